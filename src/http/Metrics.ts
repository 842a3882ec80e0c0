import { Metric, type Context } from "effect"

const requests = Metric.counter("turnpike_http_requests_total", {
  description: "HTTP requests by method, route and status",
  incremental: true
})
const duration = Metric.histogram("turnpike_http_request_duration_seconds", {
  description: "From the request's headers to the end of its answer",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Counts answered requests. Routes are patterns, so the number of series stays small. */
export const make = (context: Context.Context<never>) => {
  const series = new Map<string, { readonly count: typeof requests; readonly time: typeof duration }>()
  return (method: string, route: string, status: number, milliseconds: number): void => {
    const name = `${method} ${route} ${status}`
    let found = series.get(name)
    if (found === undefined) {
      const verb = methods.has(method) ? method : "other"
      found = {
        count: Metric.withAttributes(requests, { method: verb, route, status: String(status) }),
        time: Metric.withAttributes(duration, { method: verb, route })
      }
      series.set(name, found)
    }
    found.count.updateUnsafe(1, context)
    found.time.updateUnsafe(milliseconds / 1000, context)
  }
}
