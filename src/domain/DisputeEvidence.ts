import { Schema } from "effect"
import { name, text, textOf } from "./Text.ts"

/** Something that speaks for one side. */
export const Evidence = Schema.Struct({
  type: name(100),
  description: text(1000),
  url: Schema.optionalKey(
    textOf(2000, /^https?:\/\/\S+$/u, "^https?://[^\\x00\\s]+$", { expected: "an http or https address" })
  ),
  content: Schema.optionalKey(text(4000))
}).annotate({ identifier: "DisputeEvidence" })
export type Evidence = typeof Evidence.Type

/** How many pieces of evidence one request brings, and one side of a dispute has, and how much that is in bytes of JSON, at most. */
export const evidenceLimits = { request: 20, side: 50, bytes: 32_768 } as const

/** Whether this is more than one side may have. A dispute is in its events and in lists, so it must not be of any size. */
export const isTooMuch = (evidence: ReadonlyArray<Evidence>): boolean =>
  evidence.length > evidenceLimits.side ||
  new TextEncoder().encode(JSON.stringify(evidence)).length > evidenceLimits.bytes
