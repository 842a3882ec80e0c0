import { Schema } from "effect"

/**
 * Why the embedded Postgres is not available. `message` is a sentence for the operator; `ownerPid` is the process that
 * holds the data directory when the reason is `InUse`.
 */
export class EmbeddedPostgresError extends Schema.TaggedError<EmbeddedPostgresError>()("EmbeddedPostgresError", {
  reason: Schema.Literals(["InUse", "DataDirectory", "NoBinaries", "NotRunnable", "Version", "Initialise", "Start"]),
  dataDir: Schema.String,
  message: Schema.String,
  ownerPid: Schema.optionalKey(Schema.Int)
}) {}
