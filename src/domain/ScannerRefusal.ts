import { Schema } from "effect"

/** Not enough credits; nothing was done and nothing charged. Both are whole credits. */
export class InsufficientCredits extends Schema.TaggedError<InsufficientCredits>()(
  "INSUFFICIENT_CREDITS",
  { balance: Schema.Int, required: Schema.Int },
  { httpApiStatus: 402, title: "Not enough scanner credits" }
) {}

/** We could not do it, and it cost nothing: too many are running, or something of ours failed. Seconds until it is worth trying. */
export class ScannerUnavailable extends Schema.TaggedError<ScannerUnavailable>()(
  "SCANNER_UNAVAILABLE",
  { reason: Schema.Literals(["Busy", "Failed"]), retry_after: Schema.Int },
  { httpApiStatus: 503, title: "The scanner cannot do this now" }
) {}
