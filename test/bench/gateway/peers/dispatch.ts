import { createServer, type ServerResponse } from "node:http"
import { Agent, type Dispatcher } from "undici"
import { serve } from "./serve.ts"

class Answering implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse

  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart() {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number) {
    const raw = controller.rawHeaders
    const headers = Array.isArray(raw) ? raw.map(String) : []
    const kept: Array<string> = []
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] ?? ""
      if (!/^(?:connection|keep-alive|transfer-encoding)$/i.test(name)) kept.push(name, headers[index + 1] ?? "")
    }
    this.#response.writeHead(status, kept)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.#response.write(chunk)
  }

  onResponseEnd() {
    this.#response.end()
  }

  onResponseError() {
    this.#response.destroy()
  }
}

// What forwarding costs at least: undici's dispatcher straight onto the response. It is no proxy: no header and no body of the
// request goes on, and nobody waits for a slow reader.
serve<{ originPort: number }>(({ originPort }) => {
  const agent = new Agent({ pipelining: 1 })
  const origin = `http://127.0.0.1:${originPort}`
  return createServer((request, response) => {
    agent.dispatch({ origin, path: request.url ?? "/", method: "GET" }, new Answering(response))
  })
})
