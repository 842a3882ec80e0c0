import { createServer } from "node:http"
import { serve } from "./serve.ts"

// What taking a JSON body and answering with one costs at least: parsed, and sent back.
serve(() =>
  createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()))
      response.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(body) })
      response.end(body)
    })
  })
)
