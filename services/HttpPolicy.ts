import { Context, type Redacted } from "effect"

/** How the HTTP edge treats callers. */
export const HttpPolicy = Context.Reference<{
  /** Requests a minute for each credential, and for each address without one; undefined is no limit. */
  readonly requestsPerMinute: number | undefined
  /** Peers whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: ReadonlyArray<string>
  /** What `/metrics` asks of callers that are not on this machine; undefined lets nobody else in. */
  readonly metricsToken: Redacted.Redacted | undefined
}>("turnpike/services/HttpPolicy", {
  defaultValue: () => ({ requestsPerMinute: undefined, trustedProxies: [], metricsToken: undefined })
})
