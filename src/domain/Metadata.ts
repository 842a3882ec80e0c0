import { Schema } from "effect"

/** The largest metadata, in bytes of its compact JSON. */
const maxMetadataBytes = 16_384

const limits = Schema.makeFilter<{ readonly [key: string]: Schema.Json }>((metadata) => {
  const json = JSON.stringify(metadata)
  if (new TextEncoder().encode(json).length > maxMetadataBytes) return "must be at most 16 KiB as JSON"
  // Postgres keeps neither in a jsonb. Such characters appear escaped, behind an odd number of backslashes.
  return /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json) ? "must be Unicode text without NUL characters" : undefined
})

/** A caller's own facts about a thing: a JSON object that we keep and give back. */
export const Metadata = Schema.Record(Schema.String, Schema.Json).check(limits)
export type Metadata = typeof Metadata.Type
