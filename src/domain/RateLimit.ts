/** Tokens left at an instant (milliseconds that only go on). They come back evenly, `perMinute` of them a minute and never more than that. */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** What a caller is told about its limit. `reset` and `retryAfter` are whole seconds. */
export interface Allowance {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** Until the bucket is full again. */
  readonly reset: number
  /** Until one more request passes; 0 when one would pass now. */
  readonly retryAfter: number
}

/** Takes one token if there is one. A caller nobody has seen before has a full bucket. */
export const take = (
  bucket: Bucket | undefined,
  perMinute: number,
  now: number
): { readonly bucket: Bucket; readonly allowance: Allowance } => {
  const perMillisecond = perMinute / 60_000
  const regained = bucket === undefined ? perMinute : (now - bucket.at) * perMillisecond
  const before = Math.min(perMinute, (bucket?.tokens ?? 0) + regained)
  const allowed = before >= 1
  const tokens = allowed ? before - 1 : before
  const seconds = (missing: number) => Math.max(0, Math.ceil(missing / perMillisecond / 1000))
  return {
    bucket: { tokens, at: now },
    allowance: {
      allowed,
      limit: perMinute,
      remaining: Math.floor(tokens),
      reset: seconds(perMinute - tokens),
      retryAfter: seconds(1 - tokens)
    }
  }
}
