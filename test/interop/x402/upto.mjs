import { UptoEvmScheme } from "@x402/evm/upto/client"
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { evmPayer } from "./Evm.ts"
import { suite, watched } from "./Suite.ts"
import { attempt, balance, expect, openOrigin, sell } from "./World.ts"
import { versionOf } from "./versionOf.ts"

const { account, payer } = await evmPayer()
const client = {
  client: "@x402/fetch",
  version: versionOf("@x402/fetch"),
  protocol: "x402 v2 upto",
  network: "base-sepolia",
  payer,
  header: "payment-signature",
  echoesQuote: true,
  endpoint: { schemes: ["upto"] },
  pay: (url, init, watch) =>
    wrapFetchWithPaymentFromConfig(watched(watch), {
      schemes: [{ network: "eip155:*", client: new UptoEvmScheme(account) }]
    })(url, init),
  receipt: (response) => decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE")).transaction
}
await suite(client)

/** What an origin says it used of 0.01, and what that is in micro-units. */
const reports = { 2500: 2500n, "50%": 5000n, "$0.002": 2000n, 0: 0n }

const origin = await openOrigin((hit, response) => {
  const amount = decodeURIComponent(hit.url.slice(2))
  response.writeHead(200, { "Settlement-Overrides": JSON.stringify({ amount }) })
  response.end("metered")
})
const endpoint = await sell(origin, client.network, client.endpoint)
for (const [amount, micros] of Object.entries(reports)) {
  await attempt(client, `origin reports ${amount}`, async () => {
    const before = [await balance(payer), await balance(endpoint.walletId)]
    const response = await client.pay(`${endpoint.url}?${encodeURIComponent(amount)}`)
    expect("answer", await response.text(), "metered")
    expect("the origin's report reaches the payer", response.headers.has("settlement-overrides"), false)
    expect("paid", before[0] - (await balance(payer)), micros)
    expect("earned", (await balance(endpoint.walletId)) - before[1], micros)
  })
}
origin.close()
