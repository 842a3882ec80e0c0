/** Any of these, anywhere in a text, in any case. */
export const any = (...patterns: ReadonlyArray<string>) => new RegExp(patterns.join("|"), "iu")

/** One of these alone. Beside it there may be signs, and no more words: letters of other scripts are words, too. */
export const whole = (...patterns: ReadonlyArray<string>) =>
  new RegExp(`^[^\\p{L}\\p{N}]*(?:${patterns.join("|")})[^\\p{L}\\p{N}]*$`, "iu")
