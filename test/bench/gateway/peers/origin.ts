import { createServer } from "node:http"
import { serve } from "./serve.ts"

// The seller: the cheapest HTTP server there is, with an answer of about 900 bytes.
const quotes = Array.from({ length: 20 }, (_, day) => ({ day, close: "1.000100", volume: 4200 }))
const body = Buffer.from(JSON.stringify({ symbol: "USDC", quotes }))
const headers = ["Content-Type", "application/json", "Content-Length", String(body.length)]

serve(() =>
  createServer((_request, response) => {
    response.writeHead(200, headers)
    response.end(body)
  })
)
