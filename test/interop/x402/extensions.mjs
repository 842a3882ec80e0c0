import { x402Client } from "@x402/core/client"
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier"
import { createSIWxClientHook, wrapFetchWithSIWx } from "@x402/extensions/sign-in-with-x"
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPayment, x402HTTPClient } from "@x402/fetch"
import { evmPayer } from "./Evm.ts"
import { decoded } from "./Payload.ts"
import { attempt, balance, expect, openOrigin, sell } from "./World.ts"
import { versionOf } from "./versionOf.ts"

const who = { client: "@x402/ext…", version: versionOf("@x402/extensions"), protocol: "x402 v2 exact" }
const { account, payer } = await evmPayer()
const client = () => new x402Client().register("eip155:*", new ExactEvmScheme(account))
const origin = await openOrigin((_hit, response) => response.end("sold"))

/** What one call took from the payer, in micro-units. */
const cost = async (call) => {
  const before = await balance(payer)
  const response = await call()
  const text = await response.text()
  if (response.status !== 200) throw new Error(`status ${response.status} ${text.slice(0, 300)}`)
  return before - (await balance(payer))
}

await attempt(who, "sign-in-with-x: a known caller is asked for its discounted price", async () => {
  const { url } = await sell(origin, "base-sepolia", { volumeDiscounts: [{ threshold: 1, priceMultiplier: 0.5 }] })
  const pay = wrapFetchWithPayment(wrapFetchWithSIWx(fetch, account), client())
  expect("first call", await cost(() => pay(url)), 10_000n)
  expect("second call", await cost(() => pay(url)), 5_000n)
})
await attempt(who, "sign-in-with-x: a call that is free for its caller needs no payment", async () => {
  const { url } = await sell(origin, "base-sepolia", { volumeDiscounts: [{ threshold: 1, priceMultiplier: 0 }] })
  const http = new x402HTTPClient(client()).onPaymentRequired(createSIWxClientHook(account))
  const signIn = wrapFetchWithPayment(fetch, http)
  expect("first call", await cost(() => wrapFetchWithPayment(fetch, client())(url)), 10_000n)
  expect("second call", await cost(() => signIn(url)), 0n)
})
await attempt(who, "payment-identifier: two payments under one id are one", async () => {
  const { url } = await sell(origin, "base-sepolia")
  const id = generatePaymentId()
  const withId = client().onBeforePaymentCreation(async ({ paymentRequired }) => {
    appendPaymentIdentifierToExtensions(paymentRequired.extensions, id)
  })
  let sent = ""
  const spy = (input, init) => {
    sent = new Request(input, init).headers.get("payment-signature") ?? sent
    return fetch(input, init)
  }
  const pay = wrapFetchWithPayment(spy, withId)
  const [hits, money] = [origin.hits.length, await balance(payer)]
  const first = await pay(url)
  expect("first answer", first.status, 200)
  await first.arrayBuffer()
  expect("id in the payment", decoded(sent).extensions["payment-identifier"].info.id, id)
  const second = await pay(url)
  await second.arrayBuffer()
  expect("origin hits", origin.hits.length - hits, 1)
  expect("paid", money - (await balance(payer)), 10_000n)
  expect("second answer", second.status, 409)
})
origin.close()
