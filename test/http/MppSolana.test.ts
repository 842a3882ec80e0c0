import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { decodeBase58 } from "#domain/Network.ts"
import { associatedTokenAccount, programs, sameBytes } from "#domain/protocol/SolanaKeys.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Wallets } from "#services/Wallets.ts"
import { recordings } from "../domain/protocol/SvmRecordings.ts"
import { keysOf, partsOf, signed } from "../domain/protocol/SvmTransactions.ts"
import { balance, origin, send, server, tenant } from "./GatewayHarness.ts"
import { challengeIn } from "./X402Harness.ts"

const recorded = recordings.usdc
const bytesOf = (address: string) => decodeBase58(address) ?? assert.fail(address)
const accountOf = (owner: string) =>
  associatedTokenAccount(owner, recorded.offer.asset, programs.token) ?? assert.fail(owner)
const inBase64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
const fromBase64 = (text: unknown) => JSON.parse(Buffer.from(String(text), "base64url").toString())

/** What the client signed once, for what this challenge asks for. */
const transactionFor = (payer: ReturnType<typeof keysOf>, challenge: Readonly<Record<string, string>>) => {
  const { externalId, methodDetails, recipient } = fromBase64(challenge["request"])
  const parts = partsOf(recorded.transaction)
  const replaced = [
    [parts.keys[0]!, bytesOf(methodDetails.feePayerKey)],
    [parts.keys[1]!, bytesOf(payer.address)],
    [accountOf(keysOf("payer").address), accountOf(payer.address)],
    [accountOf(recorded.offer.payTo), accountOf(recipient)]
  ] as const
  const keys = parts.keys.map((key) => replaced.find(([from]) => sameBytes(from, key))?.[1] ?? key)
  const instructions = parts.instructions.map((one, place) =>
    place === 3 ? { ...one, data: Buffer.from(externalId) } : one
  )
  return signed({ ...parts, keys, instructions }, payer)
}

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a credential of MPP on Solana", (it) => {
  it.effect("pays once, is told so by a receipt, and has its answer again", () =>
    Effect.gen(function* () {
      const network = "solana-devnet"
      const wallets = yield* Wallets
      const { principal: seller } = yield* tenant
      yield* wallets.create(seller, { network })
      const backend = yield* origin((_, response) => response.end("served"))
      const sold = { name: "Weather", path: "/forecast", method: "GET", originUrl: backend.url, network } as const
      const path = `/x402/${(yield* (yield* Endpoints).create(seller, sold)).id}`
      const payer = keysOf(randomUUID())
      const { principal } = yield* tenant
      const purse = (yield* wallets.create(principal, { network, address: payer.address })).id
      const challenge = challengeIn(yield* send(path))
      const payload = { type: "transaction", transaction: transactionFor(payer, challenge) }
      const authorization = `Payment ${inBase64({ challenge, payload })}`
      const poor = yield* send(path, { headers: { authorization } })
      assert.deepStrictEqual([poor.status, poor.json.error], [402, "insufficient_funds"])
      assert.strictEqual(poor.json.type, "https://paymentauth.org/problems/payment-insufficient")
      yield* wallets.fund(principal, purse, { amount: 50_000n, currency: "USDC" })
      for (const _ of [1, 2]) {
        const paid = yield* send(path, { headers: { authorization } })
        assert.deepStrictEqual([paid.status, paid.body], [200, "served"])
        const receipt = fromBase64(paid.headers["payment-receipt"])
        assert.deepInclude(receipt, { method: "solana", status: "success", challengeId: challenge["id"] })
        assert.strictEqual(bytesOf(receipt.reference).length, 64)
      }
      assert.strictEqual(backend.seen.length, 1)
      assert.deepStrictEqual(yield* balance(purse), { posted: 40_000n, held: 0n })
    })
  )
})
