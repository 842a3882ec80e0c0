import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { request } from "node:http"
import { evmPayer } from "./Evm.ts"
import { decoded, type Deviation, encoded, highS, type Offer, payload, quoted } from "./Payload.ts"
import { attempt, balance, expect, funded, openOrigin, sell, wallet } from "./World.ts"

const now = () => Math.floor(Date.now() / 1000)
const stranger = privateKeyToAccount(generatePrivateKey())

const origin = await openOrigin((_hit, response) => {
  response.writeHead(200, { "Content-Type": "application/json" })
  response.end(`{"secret":42}`)
})
const endpoint = await sell(origin, "base-sepolia")
/** Sold by the same wallet at the same price: what pays for one would do for the other but for the name of the endpoint. */
const sibling = await sell(origin, "base-sepolia", { walletId: endpoint.walletId })
const { account, payer } = await evmPayer()

interface Answer {
  readonly status: number | "closed"
  readonly reason: string
}

/** Sends what `fetch` would not, and takes a closed connection for an answer. */
const send = (url: string, headers: Record<string, string>): Promise<Answer> =>
  new Promise((resolve) => {
    const closed = (error: Error) => resolve({ status: "closed", reason: error.message })
    const sent = request(url, { headers, agent: false }, async (response) => {
      const chunks: Array<Buffer> = []
      for await (const chunk of response) chunks.push(chunk)
      const required = response.headers["payment-required"]
      const body = Buffer.concat(chunks).toString()
      const reason =
        typeof required === "string" ? decoded(required).error : (/"(?:code|error)":"([^"]*)"/.exec(body)?.[1] ?? "")
      resolve({ status: response.statusCode ?? 0, reason })
    })
    sent.on("error", closed)
    sent.end()
  })

const v2 = async (deviation?: Deviation, offer?: Offer, signer = account) =>
  encoded({ x402Version: 2, ...(await payload(signer, offer ?? (await quoted(endpoint.url)), deviation)) })

const who = (protocol: string) => ({ client: "attack", version: "", protocol })

/** Tries one lie: it must be told why not, and neither reach the origin nor cost the payer anything. */
const refused = (
  protocol: string,
  what: string,
  headers: () => Promise<Record<string, string>>,
  options: { readonly url?: string; readonly statuses?: ReadonlyArray<Answer["status"]> } = {}
) =>
  attempt(who(protocol), what, async () => {
    const prepared = await headers()
    const [hits, money] = [origin.hits.length, await balance(payer)]
    const { reason, status } = await send(options.url ?? endpoint.url, prepared)
    expect("origin hits", origin.hits.length - hits, 0)
    expect("taken", money - (await balance(payer)), 0n)
    if (!(options.statuses ?? [402]).includes(status)) throw new Error(`answered ${status} ${reason}`)
    if (status === 402 && /^(?:payment.required)?$/i.test(reason)) throw new Error("402 without a reason")
    return `${status} ${reason}, origin hits 0`
  })

const signed = (what: string, deviation: Deviation) =>
  refused("x402 v2 exact", what, async () => ({ "payment-signature": await v2(deviation) }))

await attempt(who("x402 v2 exact"), "replay, 100 at once", async () => {
  const headers = { "payment-signature": await v2() }
  const [hits, money] = [origin.hits.length, await balance(payer)]
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(endpoint.url, headers)))
  const counts = Map.groupBy(answers, ({ status }) => status)
  expect("origin hits", origin.hits.length - hits, 1)
  expect("taken", money - (await balance(payer)), 10_000n)
  expect(
    "answers that are neither the bought one nor a conflict",
    answers.filter(({ status }) => status !== 200 && status !== 409).length,
    0
  )
  return `${[...counts].map(([status, { length }]) => `${length} x ${status}`).join(", ")}, origin hits 1, paid once`
})

let used = ""
await attempt(who("x402 v2 exact"), "a good payment, for comparison", async () => {
  used = await v2()
  const hits = origin.hits.length
  const { reason, status } = await send(endpoint.url, { "payment-signature": used })
  expect(`status (${reason})`, status, 200)
  expect("origin hits", origin.hits.length - hits, 1)
})
await refused("x402 v2 exact", "replay for another request", async () => ({ "payment-signature": used }), {
  url: `${endpoint.url}?other`,
  statuses: [409]
})
await refused("x402 v2 exact", "payload of endpoint A on B", async () => ({ "payment-signature": await v2() }), {
  url: sibling.url
})
await signed("amount lowered in offer and signature", { offer: { amount: "1" } })
await signed("amount lowered in the signature only", { signed: { value: "1" } })
await signed("amount raised in the signature only", { signed: { value: "20000" } })
await signed("amount changed after signing", { forged: { value: "1" } })
await signed("receiver changed in offer and signature", { offer: { payTo: stranger.address } })
await signed("receiver changed in the signature only", { signed: { to: stranger.address } })
await signed("receiver changed after signing", { forged: { to: stranger.address } })
await signed("payer changed after signing", { forged: { from: stranger.address } })
await signed("asset changed in offer and signature", { offer: { asset: "0x808456652fdb597867f38412077A9182bf77359F" } })
await signed("asset changed in the signature only", {
  domain: { verifyingContract: "0x808456652fdb597867f38412077A9182bf77359F" }
})
await signed("network of the offer changed", { offer: { network: "eip155:8453" } })
await signed("chain id of the signature changed", { domain: { chainId: 8453 } })
await signed("scheme of the offer changed", { offer: { scheme: "upto" } })
await signed("quote left out", { offer: { extra: { name: "USDC", version: "2" } } })
await refused("x402 v2 exact", "quote of another price made up", async () => {
  const offer = await quoted(endpoint.url)
  const quote = String(offer.extra["quote"])
  const other = `${quote.slice(0, -1)}${quote.endsWith("A") ? "B" : "A"}`
  return { "payment-signature": await v2({ offer: { amount: "1", extra: { ...offer.extra, quote: other } } }, offer) }
})
await signed("expired", { signed: { validBefore: String(now() - 10) } })
await signed("expires before it could be settled", { signed: { validBefore: String(now() + 3) } })
await signed("not yet valid", { signed: { validAfter: String(now() + 600), validBefore: String(now() + 900) } })
await signed("high-s twin of the signature", { signature: highS })
await signed("recovery id 0 instead of 27", { signature: (good) => `${good.slice(0, 130) as `0x${string}`}00` })
await signed("signature of 64 bytes", { signature: (good) => good.slice(0, 130) as `0x${string}` })
await signed("signature of zeros", { signature: () => `0x${"00".repeat(65)}` })
await refused("x402 v2 exact", "payer without a wallet", async () => ({
  "payment-signature": await v2({}, undefined, stranger)
}))
await refused("x402 v2 exact", "payer with less than the price", async () => {
  const poor = privateKeyToAccount(generatePrivateKey())
  await funded("base-sepolia", poor.address, "0.009999")
  return { "payment-signature": await v2({}, undefined, poor) }
})
await refused("x402 v2 exact", "payer with an empty wallet", async () => {
  const empty = privateKeyToAccount(generatePrivateKey())
  await wallet("base-sepolia", empty.address)
  return { "payment-signature": await v2({}, undefined, empty) }
})

const malformed: Record<string, () => Promise<string>> = {
  "garbage instead of base64": async () => "!!! not base64 !!!",
  "base64 of no JSON": async () => Buffer.from("not json").toString("base64"),
  "base64 of null": async () => encoded(null),
  "base64 of 1,000 nested arrays": async () => Buffer.from("[".repeat(1000) + "]".repeat(1000)).toString("base64"),
  base64url: async () => `${Buffer.from(`{"a":"???>>>"}`).toString("base64url")}_-`,
  "version 3": async () => encoded({ ...decoded(await v2()), x402Version: 3 }),
  "no authorisation": async () => encoded({ ...decoded(await v2()), payload: {} })
}
for (const [what, header] of Object.entries(malformed)) {
  await refused("x402 v2 exact", what, async () => ({ "payment-signature": await header() }), { statuses: [400, 402] })
}
await refused("x402 v2 exact", "20 KB header", async () => ({ "payment-signature": "A".repeat(20_000) }), {
  statuses: [400, 402, 431, "closed"]
})
await refused(
  "x402 v2 + v1",
  "two payments in one request, under the names of both generations",
  async () => ({ "payment-signature": await v2(), "x-payment": await v2() }),
  { statuses: [400, 402] }
)

const v1 = async (deviation?: Deviation, network = "base-sepolia") => {
  const { payload: inner } = await payload(account, await quoted(endpoint.url), deviation)
  return { "x-payment": encoded({ x402Version: 1, scheme: "exact", network, payload: inner }) }
}
await refused("x402 v1 exact", "amount lowered", () => v1({ signed: { value: "1" } }))
await refused("x402 v1 exact", "receiver changed", () => v1({ signed: { to: stranger.address } }))
await refused("x402 v1 exact", "network changed", () => v1({}, "base"))
await refused("x402 v1 exact", "high-s twin of the signature", () => v1({ signature: highS }))

await attempt(who(""), "after all this, a good payment", async () => {
  const { reason, status } = await send(endpoint.url, { "payment-signature": await v2() })
  expect(`status (${reason})`, status, 200)
})
origin.close()
