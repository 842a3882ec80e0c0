import { Metric, type Context } from "effect"
import { STATUS_CODES } from "node:http"

/** What a call counts as whose caller left before there was an answer. No answer of ours has this status. */
export const callerGone = 499

const requests = Metric.counter("turnpike_http_requests_total", {
  description: "HTTP requests by method, route and status",
  incremental: true
})
const duration = Metric.histogram("turnpike_http_request_duration_seconds", {
  description: "From the request's headers to the end of its answer",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
const statuses = new Set([...Object.keys(STATUS_CODES).map(Number), callerGone])

/** An origin may answer with any three digits: what is no registered status counts as its class, such as `4xx`. */
const labelOf = (status: number): string => (statuses.has(status) ? String(status) : `${Math.floor(status / 100)}xx`)

/** Counts requests. Routes are patterns, and methods and statuses the known ones, so the number of series stays small. */
export const make = (context: Context.Context<never>) => {
  const series = new Map<string, { readonly count: typeof requests; readonly time: typeof duration }>()
  return (method: string, route: string, status: number, milliseconds: number): void => {
    const verb = methods.has(method) ? method : "other"
    const label = labelOf(status)
    const name = `${verb} ${route} ${label}`
    let found = series.get(name)
    if (found === undefined) {
      found = {
        count: Metric.withAttributes(requests, { method: verb, route, status: label }),
        time: Metric.withAttributes(duration, { method: verb, route })
      }
      series.set(name, found)
    }
    found.count.updateUnsafe(1, context)
    found.time.updateUnsafe(milliseconds / 1000, context)
  }
}
