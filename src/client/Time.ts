/** Milliseconds since 1970, by the clock of the user's machine. */
// @effect-diagnostics-next-line globalDate:off
export const now = (): number => Date.now()

/** The day in UTC, such as `2026-01-31`. */
// @effect-diagnostics-next-line globalDate:off
export const today = (): string => new Date().toISOString().slice(0, 10)

/** What the work gives, or the signal's reason as soon as it is aborted; what the work does then is nobody's. */
export const orAborted = <A>(work: A | PromiseLike<A>, signal: AbortSignal | undefined): Promise<A> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener("abort", stop, { once: true })
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener("abort", stop))
  })

/**
 * What the work gives under a signal that is aborted as the caller's is, or by a `TimeoutError` when the time is over. `AbortSignal.any` would
 * do, but Node 20 forgets what that gave while it is waited for.
 */
export const timed = async <A>(
  millis: number,
  signal: AbortSignal | undefined,
  work: (until: AbortSignal) => Promise<A>
): Promise<A> => {
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  // @effect-diagnostics-next-line globalTimers:off
  const timer = setTimeout(() => controller.abort(new DOMException("It took too long", "TimeoutError")), millis)
  signal?.addEventListener("abort", stop)
  if (signal?.aborted) stop()
  try {
    return await orAborted(work(controller.signal), controller.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", stop)
  }
}

/** Waits, unless the signal is aborted first. */
export const pause = (millis: number, signal: AbortSignal | undefined): Promise<void> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  return orAborted(
    new Promise<void>((resolve) => {
      // @effect-diagnostics-next-line globalTimers:off
      timer = setTimeout(resolve, millis)
    }),
    signal
  ).finally(() => clearTimeout(timer))
}

/** Milliseconds that `Retry-After` asks for, in seconds or as a date of any form; undefined when it says nothing sensible. */
export const retryAfter = (response: Response): number | undefined => {
  const text = response.headers.get("retry-after") ?? ""
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000
  // Almost anything is parsed as some date: one of HTTP has a time, and ends in the year where it does not say that this is in UTC.
  const until = Date.parse(/:/.test(text) ? text.replace(/ \d{4}$/, "$& GMT") : "")
  return Number.isNaN(until) ? undefined : Math.max(0, until - now())
}

/** How long to wait before the attempt with this number, counted from 1: as asked, else longer every time; at most `limit`. */
export const backoff = (attempt: number, asked: number | undefined, limit: number): number =>
  Math.min(limit, asked ?? 200 * 2 ** (attempt - 1))
