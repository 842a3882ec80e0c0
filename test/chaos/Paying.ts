import { pause } from "./Servers.ts"

/** What a client is sure of: only definite answers count, everything else was asked again with the same key or proof. */
export interface Paid {
  readonly payment: string
  readonly amount: string
  /** 200 was seen; otherwise the last definite refusal. */
  readonly outcome: "served" | { readonly status: number; readonly code: string }
}

export interface Funding {
  readonly wallet: string
  readonly transfer: string
}

export interface Client {
  /** Base addresses to try in turn; some of them may be dead at any time. */
  readonly bases: () => ReadonlyArray<string>
  readonly key: string
}

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the server said.
  readonly body: any
  readonly headers: Headers
}

let turn = 0

/** Servers start slowly on a machine that does much else. In milliseconds. */
const longest = 120_000

/** Asks until somebody gives a definite answer: not a broken connection, not a 503. */
export const ask = async (
  client: Client,
  path: string,
  init: RequestInit & { readonly headers?: Record<string, string> }
): Promise<Answer> => {
  const began = performance.now()
  while (performance.now() - began < longest) {
    const bases = client.bases()
    const base = bases[turn++ % bases.length]
    try {
      const response = await fetch(`${base}${path}`, { ...init, signal: AbortSignal.timeout(20_000) })
      const text = await response.text()
      if (response.status !== 503) return { status: response.status, body: parsed(text), headers: response.headers }
      if (response.headers.get("retry-after") === null) throw new Error(`503 without Retry-After: ${text}`)
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("503")) throw error
    }
    await pause(50)
  }
  throw new Error(`No definite answer to ${path}`)
}

const parsed = (text: string) => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export const api = async (
  client: Client,
  method: string,
  path: string,
  body?: unknown,
  key?: string
): Promise<Answer> =>
  ask(client, path, {
    method,
    headers: {
      authorization: `Bearer ${client.key}`,
      "content-type": "application/json",
      ...(key === undefined ? {} : { "idempotency-key": key })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

/** Like `api`, for set-up that must succeed. */
export const must = async (client: Client, method: string, path: string, body?: unknown) => {
  const answer = await api(client, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** One whole paid call as a careful client makes it: same key and same proof until the outcome is known. */
export const payOnce = async (client: Client, endpoint: string, wallet: string): Promise<Paid | undefined> => {
  const quote = await ask(client, `/x402/${endpoint}`, {})
  if (quote.status !== 402) throw new Error(`Expected 402, got ${quote.status} ${JSON.stringify(quote.body)}`)
  const payment = await api(
    client,
    "POST",
    "/v1/x402/pay",
    { payment_request_id: quote.body.payment_request_id, from_wallet_id: wallet },
    crypto.randomUUID()
  )
  if (payment.body?.code === "INSUFFICIENT_BALANCE" || payment.body?.code === "QUOTE_EXPIRED") return undefined
  if (payment.status !== 201) throw new Error(`Expected 201, got ${payment.status} ${JSON.stringify(payment.body)}`)
  const { amount, id, proof } = payment.body
  for (let attempt = 0; attempt < 8; attempt++) {
    const call = await ask(client, `/x402/${endpoint}`, { headers: { "x-payment-proof": proof } })
    if (call.status === 200) return { payment: id, amount, outcome: "served" }
    if (call.status !== 409 || call.body?.code !== "PAYMENT_IN_PROGRESS") {
      return {
        payment: id,
        amount,
        outcome: { status: call.status, code: String(call.body?.code ?? call.body?.error) }
      }
    }
    await pause(500)
  }
  return { payment: id, amount, outcome: { status: 409, code: "PAYMENT_IN_PROGRESS" } }
}
