import { once } from "node:events"
import { get } from "node:http"
import { api, attempt, balance, deadline, expect, openOrigin, sell } from "./World.ts"
import type { NetworkName, Origin, Row, Sold } from "./World.ts"

/** What a client does between its two requests can be seen and used here; the client itself knows nothing of it. */
export interface Watch {
  /** Every request, before it is sent. */
  readonly sent?: (headers: Headers) => void
  /** A 402 arrived, and the client has not seen it yet. */
  readonly quoted?: () => Promise<void>
}

/** A client library of somebody else, set up as its own documentation says. */
export interface Client extends Pick<Row, "client" | "version" | "protocol"> {
  readonly network: NetworkName
  /** The wallet of the address that signs. */
  readonly payer: string
  /** The request header that carries the payment. */
  readonly header: string
  /** Whether a payment says which of our quotes it answers. */
  readonly echoesQuote: boolean
  /** Calls and pays. */
  readonly pay: (url: string, init?: RequestInit, watch?: Watch) => Promise<Response>
  /** What the library's own decoder reads from the answer: the transaction. */
  readonly receipt: (response: Response) => string
  /** More about the endpoint it pays. */
  readonly endpoint?: Readonly<Record<string, unknown>>
}

/** The `fetch` that a client is given: the platform's own, watched. */
export const watched =
  (watch: Watch = {}): typeof fetch =>
  async (input, init) => {
    watch.sent?.(new Request(input, init).headers)
    const response = await fetch(input, init)
    if (response.status === 402) await watch.quoted?.()
    return response
  }

const price = 10_000n

/** Everything an unmodified client must be able to do against a sandbox endpoint, one line each. */
export const suite = async (client: Client): Promise<void> => {
  const origin = await openOrigin((hit, response) => {
    const status = hit.url.includes("broken") ? 500 : 200
    const body = Buffer.from(JSON.stringify({ method: hit.method, body: hit.body, paid: client.header in hit.headers }))
    // Only an answer that says how long it is can be kept for a replay.
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": body.length })
    response.end(body)
  })
  const endpoint = await sell(origin, client.network, client.endpoint)
  const books = await ledger(client, endpoint)
  const call = (what: string, run: () => Promise<string | void>) => attempt(client, what, run)

  await call("GET", async () => {
    const response = await client.pay(endpoint.url)
    const body = await json(response)
    expect("origin's answer", body.method, "GET")
    expect("payment shown to the origin", body.paid, false)
    if (client.receipt(response) === "") throw new Error("the receipt names no transaction")
    await books.moved(price)
  })
  await call("POST of JSON", async () => {
    const order = JSON.stringify({ question: "Wie spät ist es?" })
    const headers = { "content-type": "application/json" }
    const body = await json(await client.pay(endpoint.url, { method: "POST", body: order, headers }))
    expect("body at the origin", body.body, order)
    await books.moved(price)
  })
  await call("twice in a row", async () => {
    await json(await client.pay(endpoint.url))
    await json(await client.pay(endpoint.url))
    await books.moved(2n * price)
  })
  await call("8 at once", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, async () => json(await client.pay(endpoint.url))))
    expect("answers", answers.length, 8)
    await books.moved(8n * price)
  })
  await call("origin answers 500: free", async () => {
    const response = await client.pay(`${endpoint.url}?broken`, undefined)
    expect("status", response.status, 500)
    await response.arrayBuffer()
    await books.moved(0n)
  })
  await call("replay: same request, other request, other endpoint", () => replay(client, origin, endpoint))
  await call("price rises between quote and payment", () => priceRise(client, origin))
  origin.close()
  await call("first event of a stream", () => stream(client))
}

const json = async (response: Response) => {
  const text = await response.text()
  if (response.status !== 200) {
    const [, reason] = /"(?:error|code|detail)":"([^"]*)"/.exec(text) ?? ["", text.slice(0, 200)]
    throw new Error(`status ${response.status} ${reason}`)
  }
  return JSON.parse(text)
}

/** Says whether exactly this much went from payer to seller since it was asked last. */
const ledger = async (client: Client, endpoint: Sold) => {
  let [payer, seller] = await Promise.all([balance(client.payer), balance(endpoint.walletId)])
  return {
    moved: async (amount: bigint) => {
      const [payerNow, sellerNow] = await Promise.all([balance(client.payer), balance(endpoint.walletId)])
      const [paid, earned] = [payer - payerNow, sellerNow - seller]
      ;[payer, seller] = [payerNow, sellerNow]
      expect("paid, in micro-units", paid, amount)
      expect("earned, in micro-units", earned, amount)
    }
  }
}

/** The payment header of a call that was paid for and answered. */
const spent = async (client: Client, url: string): Promise<string> => {
  let header: string | undefined
  const sent = (headers: Headers) => {
    header = headers.get(client.header) ?? header
  }
  await json(await client.pay(url, undefined, { sent }))
  if (header === undefined) throw new Error(`no request carried ${client.header}`)
  return header
}

const replay = async (client: Client, origin: Origin, endpoint: Sold) => {
  const other = await sell(origin, client.network, client.endpoint)
  const header = await spent(client, endpoint.url)
  // What answers depend on is part of a request, and clients ask in ways of their own.
  const headers = { ...asked(origin), [client.header]: header }
  const [books, hits] = [await ledger(client, endpoint), origin.hits.length]
  const outcomes: Array<number> = []
  for (const url of [endpoint.url, `${endpoint.url}?more`, other.url]) {
    // `fetch` would ask for a language by itself.
    const [response] = await once(get(url, { headers }), "response")
    response.resume()
    outcomes.push(response.statusCode)
  }
  expect("statuses (the stored answer, a conflict, no payment)", outcomes.join(" "), "200 409 402")
  expect("origin called again", origin.hits.length - hits, 0)
  await books.moved(0n)
  return outcomes.join(" ")
}

/** Which answer the origin was last asked for, and in which codings and languages. */
const asked = (origin: Origin): Readonly<Record<string, string>> => {
  const { headers } = origin.hits.at(-1) ?? { headers: {} }
  const telling = Object.entries(headers).filter(([name]) => name.startsWith("accept"))
  return Object.fromEntries(telling.map(([name, value]) => [name, String(value)]))
}

/** A payment that names its quote is taken at the old price; one that does not is refused and costs nothing. */
const priceRise = async (client: Client, origin: Origin) => {
  const endpoint = await sell(origin, client.network, client.endpoint)
  const books = await ledger(client, endpoint)
  let raised = false
  const quoted = async () => {
    if (raised) return
    raised = true
    await api("PATCH", `/v1/x402/endpoints/${endpoint.id}`, { basePrice: 0.02 })
  }
  const response = await client.pay(endpoint.url, undefined, { quoted })
  await response.arrayBuffer()
  if (client.echoesQuote) {
    expect("status", response.status, 200)
    await books.moved(price)
    return "old price honoured"
  }
  expect("status", response.status, 402)
  await books.moved(0n)
  return "refused, nothing taken"
}

/** The origin sends its second event only when the client has the first, so a gateway that collects answers never ends. */
const stream = async (client: Client) => {
  let go = Promise.withResolvers<void>()
  const origin = await openOrigin((_hit, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" })
    response.write("data: one\n\n")
    go.promise.then(() => response.end("data: two\n\n"))
  })
  try {
    const endpoint = await sell(origin, client.network, client.endpoint)
    const books = await ledger(client, endpoint)
    const firstEvent = async (response: Response, started: () => number) => {
      expect("status", response.status, 200)
      if (response.body === null) throw new Error("no body")
      let [text, millis] = ["", 0]
      for await (const chunk of response.body) {
        millis ||= performance.now() - started()
        text += Buffer.from(chunk).toString()
        go.resolve()
      }
      expect("events", text, "data: one\n\ndata: two\n\n")
      return millis.toFixed(1)
    }
    let start = 0
    const sent = () => {
      start = performance.now()
    }
    const paid = await deadline(
      client.pay(endpoint.url, undefined, { sent }).then((response) => firstEvent(response, () => start)),
      20_000
    )
    await books.moved(price)
    go = Promise.withResolvers()
    start = performance.now()
    const direct = await firstEvent(await fetch(origin.url), () => start)
    return `${paid} ms after the payment was sent, ${direct} ms directly`
  } finally {
    go.resolve()
    origin.close()
  }
}
