import { createServer } from "node:http"
import { pipeline } from "node:stream"
import { Agent, request as call } from "undici"
import { serve } from "./serve.ts"

const hopByHop = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])
const endToEnd = <Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => value !== undefined && !hopByHop.has(name)))

// A bare proxy as one writes it with undici: its `request`, headers that are meant for the other end, bodies piped both ways.
serve<{ originPort: number }>(({ originPort }) => {
  const dispatcher = new Agent()
  const origin = `http://127.0.0.1:${originPort}`
  return createServer((request, response) => {
    const { method = "GET", url = "/" } = request
    const body = method === "GET" || method === "HEAD" ? null : request
    call(`${origin}${url}`, { dispatcher, method, headers: endToEnd(request.headers), body }).then(
      (answer) => {
        response.writeHead(answer.statusCode, endToEnd(answer.headers))
        pipeline(answer.body, response, (failure) => {
          if (failure) response.destroy()
        })
      },
      () => response.destroy()
    )
  })
})
