import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"

/** The sandbox server under test, as the command that started this script says. */
export interface Server {
  readonly baseUrl: string
  readonly apiKey: string
  readonly accountId: string
}

export const server: Server = JSON.parse(process.env["INTEROP_SERVER"] ?? "{}")

/** Calls the API with the server's first key and answers the record; anything but success ends the case. */
export const api = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(new URL(path, server.baseUrl), {
    method,
    headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  const json = JSON.parse(text)
  return json.data ?? json
}

export type NetworkName = "base-sepolia" | "solana-devnet"

/** A wallet of an address, or of one that the sandbox derives. */
export const wallet = async (network: NetworkName, address?: string): Promise<string> => {
  const { id } = await api("POST", "/v1/wallets", { currency: "USDC", network, ...(address ? { address } : {}) })
  return id
}

export const funded = async (network: NetworkName, address: string, amount = "5.00"): Promise<string> => {
  const id = await wallet(network, address)
  await api("POST", `/v1/wallets/${id}/fund`, { amount, currency: "USDC" })
  return id
}

/** What a wallet has in micro-units, held money included. */
export const balance = async (id: string): Promise<bigint> => {
  const { balance_available, balance_pending } = await api("GET", `/v1/wallets/${id}`)
  return micros(balance_available) + micros(balance_pending)
}

export const micros = (amount: string): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".")
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, "0"))
}

export interface Sold {
  readonly id: string
  readonly url: string
  /** The wallet that receives. */
  readonly walletId: string
}

/** Puts an endpoint in front of an origin, for 0.01 USDC unless `more` says otherwise. */
export const sell = async (
  origin: Origin,
  network: NetworkName,
  more: Readonly<Record<string, unknown>> = {}
): Promise<Sold> => {
  const walletId = await wallet(network)
  const { gatewayUrl, id } = await api("POST", "/v1/x402/endpoints", {
    name: "Interop",
    path: "/",
    method: "ANY",
    accountId: server.accountId,
    walletId,
    basePrice: 0.01,
    currency: "USDC",
    network,
    originUrl: origin.url,
    ...more
  })
  return { id, url: gatewayUrl, walletId }
}

export interface Hit {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Origin {
  readonly url: string
  /** The requests that arrived. */
  readonly hits: ReadonlyArray<Hit>
  close(): void
}

/** A seller's own HTTP server, which knows nothing of payments. */
export const openOrigin = async (answer: (hit: Hit, response: ServerResponse) => void): Promise<Origin> => {
  const hits: Array<Hit> = []
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const { headers, method = "", url = "" } = request
    const hit = { method, url, headers, body: Buffer.concat(chunks).toString() }
    hits.push(hit)
    answer(hit, response)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : address}`,
    hits,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** One line of the table. `note` is a figure behind what passed, or says what went wrong. */
export interface Row {
  readonly client: string
  readonly version: string
  readonly protocol: string
  readonly what: string
  readonly passed: boolean
  readonly note: string
  readonly ms: number
}

/** Hands a line to the command that prints the table. */
export const report = (row: Row): void => {
  process.stdout.write(`${JSON.stringify(row)}\n`)
  if (!row.passed) process.exitCode = 1
}

/** Tries one case, however long a busy machine takes, and reports it. What the case answers is the note. */
export const attempt = async (
  who: Pick<Row, "client" | "version" | "protocol">,
  what: string,
  run: () => Promise<string | void>,
  millis = 60_000
): Promise<void> => {
  const { client, protocol, version } = who
  const started = performance.now()
  const outcome = await deadline(run(), millis).then(
    (note) => ({ passed: true, note: note ?? "" }),
    (error) => ({ passed: false, note: reason(error) })
  )
  report({ client, version, protocol, what, ...outcome, ms: Math.round(performance.now() - started) })
}

const reason = (error: unknown): string =>
  (error instanceof Error ? [error.message, error.cause instanceof Error ? error.cause.message : ""] : [String(error)])
    .filter((part) => part !== "")
    .join(": ")

/** Fails when `promise` takes longer than this. */
export const deadline = <A>(promise: Promise<A>, millis: number): Promise<A> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`nothing after ${millis / 1000} s`)), millis)
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer))
}

/** Ends the case unless both are the same. */
export const expect = (what: string, actual: unknown, expected: unknown): void => {
  if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`)
}
