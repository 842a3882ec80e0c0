import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as WellBuilt from "../../shops/WellBuilt.ts"

// Shops of the usual weight, each on a port of its own. A parent is told the ports, and a number that it sends is how many
// milliseconds every answer takes from then on.

const shops = 20
/** A page of a real shop is about this long. */
const pageBytes = 250_000
let latency = 0

const card = (index: number) =>
  `<article class="card" data-index="${index}"><a href="/collections/desk-${index % 40}"><img src="/images/card-${index}.jpg" alt="Things for the desk ${index}" loading="lazy"><span class="card__title">Things for the desk, part ${index}</span></a></article>\n`
const filler = Array.from({ length: Math.ceil(pageBytes / card(1000).length) }, (_, index) => card(index)).join("")

/** Makes whatever page is sent as heavy as a real one. */
const heavier = (response: ServerResponse) => {
  const end = response.end.bind(response)
  response.end = (text?: unknown) =>
    end(typeof text === "string" ? text.replace("</main>", `<section>${filler}</section></main>`) : undefined)
  return response
}

const opened = Array.from({ length: shops }, () =>
  createServer((request, response) => {
    const base = `http://${request.headers.host}`
    setTimeout(() => void WellBuilt.pages(request, heavier(response), base), latency)
  }).listen(0, "127.0.0.1")
)
const portOf = (server: (typeof opened)[number]) => (server.address() as AddressInfo).port
await Promise.all(opened.map((server) => new Promise((resolve) => server.once("listening", resolve))))
process.send?.(opened.map(portOf))
process.on("message", (message) => {
  latency = Number(message)
  process.send?.(latency)
})
process.on("disconnect", () => process.exit())
