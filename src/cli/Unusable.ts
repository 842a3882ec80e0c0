import { Schema } from "effect"

/** What the operator named or gave cannot be used. `message` says why. */
export class Unusable extends Schema.TaggedError<Unusable>()("Unusable", { message: Schema.String }) {}
