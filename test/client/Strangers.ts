import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterEach, assert } from "vitest"
import { payingFetch, PaymentError, type WalletPaying } from "#client/client.ts"

export interface Stranger {
  readonly url: string
  /** Every request, with its whole body. */
  readonly seen: ReadonlyArray<{
    readonly method: string
    readonly path: string
    readonly headers: IncomingMessage["headers"]
    readonly body: string
  }>
}

type Answer = (request: IncomingMessage & { readonly body: string }, response: ServerResponse) => unknown

const closing: Array<() => void> = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A server that answers as it is told, until the test ends. */
export const stranger = async (answer: Answer): Promise<Stranger> => {
  const seen: Array<Stranger["seen"][number]> = []
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    request.on("error", () => undefined)
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { headers, method = "", url: path = "" } = request
    seen.push({ method, path, headers, body })
    await answer(Object.assign(request, { body }), response)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  closing.push(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

export const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

/** Passes everything on to `target`, except where `cut` takes the request or the finished answer for itself. */
export const between = (
  target: string,
  cut: { readonly before?: (attempt: number) => boolean; readonly after?: (attempt: number) => boolean },
  counts: (request: IncomingMessage) => boolean
) => {
  let attempts = 0
  return stranger(async (request, response) => {
    const attempt = counts(request) ? ++attempts : 0
    if (attempt > 0 && cut.before?.(attempt) === true) return response.destroy()
    const { headers, method, url } = request
    const forwarded = httpRequest(new URL(url ?? "/", target), { method: method ?? "GET", headers }).end(request.body)
    const [answer] = (await once(forwarded, "response")) as [IncomingMessage]
    const chunks: Array<Buffer> = []
    for await (const chunk of answer) chunks.push(chunk)
    if (attempt > 0 && cut.after?.(attempt) === true) return response.destroy()
    response.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(chunks))
  })
}

/** The 402 of a Turnpike at `bank`, changed. */
export const challenge = (bank: string, changed: object = {}) => ({
  price: "0.01",
  currency: "USDC",
  network: "base-sepolia",
  receiver: terms.receiver,
  payment_request_id: "pr_1",
  pay_url: `${bank}/v1/x402/pay`,
  ...changed
})

/** What is paid for under the payment request of the 402. */
export const terms = {
  receiver: "0x0000000000000000000000000000000000000001",
  gateway_url: "http://127.0.0.1:4020/x402/0192",
  network: "base-sepolia",
  currency: "USDC",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  description: "The weather"
}

/** The answer to a payment. */
export const paid = { id: "pay_1", proof: "pp_1", amount: "0.01", currency: "USDC", terms }

/** A Turnpike that takes every payment. */
export const bankThat = (answer: object = paid) => stranger((_, response) => json(response, 201, answer))

/** The `fetch` of an agent with a wallet at this bank. */
export const agentOf = (bank: { readonly url: string }, options: Partial<WalletPaying> = {}) =>
  payingFetch({ baseUrl: bank.url, apiKey: "pk_test_secret", wallet: "wal_1", maxRetryDelayMs: 5, ...options })

/** The error a call ends with; fails when it does not end with one of ours. */
export const refusal = async (answer: Promise<Response>): Promise<PaymentError> => {
  const error = await answer.then(
    (response) => assert.fail(`expected a refusal, got ${response.status}`),
    (error) => error
  )
  if (!(error instanceof PaymentError)) throw error
  return error
}
