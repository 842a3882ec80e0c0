import { Effect } from "effect"
import type { Turnpike } from "../gateway/Turnpike.ts"

const [currency, network] = ["USDC", "base-sepolia"]

const call = (
  server: Turnpike,
  method: string,
  path: string,
  body?: unknown
): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${server.credentials.api_key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text)
  })

/** Offers `originUrl` for 0.01 USDC and answers the path at which it is sold, and the wallet that earns. */
export const sell = Effect.fnUntraced(function* (server: Turnpike, originUrl: string) {
  const { id: seller = "" } = yield* call(server, "POST", "/v1/wallets", { currency, network })
  const { gatewayUrl = "" } = yield* call(server, "POST", "/v1/x402/endpoints", {
    name: "Quotes",
    path: "/quotes",
    method: "GET",
    accountId: server.credentials.account_id,
    walletId: seller,
    basePrice: 0.01,
    currency,
    network,
    originUrl
  })
  return { path: new URL(gatewayUrl).pathname, seller }
})

/** Makes a wallet of each address and has the faucet fill it. */
export const fund = (server: Turnpike, addresses: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.forEach(
    addresses,
    (address) =>
      Effect.flatMap(call(server, "POST", "/v1/wallets", { currency, network, address }), ({ id }) =>
        call(server, "POST", `/v1/wallets/${id}/fund`, { amount: "10000.00", currency })
      ),
    { discard: true }
  )

/** What a wallet may spend, in micro-units. */
export const available = (server: Turnpike, id: string): Effect.Effect<number> =>
  Effect.map(call(server, "GET", `/v1/wallets/${id}`), ({ balance_available }) =>
    Math.round(Number(balance_available) * 1e6)
  )
