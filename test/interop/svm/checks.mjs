import { x402Client } from "@x402/core/client"
import { decodePaymentSignatureHeader, encodePaymentRequiredHeader } from "@x402/core/http"
import { wrapFetchWithPayment } from "@x402/fetch"
import { ExactSvmScheme as OfficialFacilitator } from "@x402/svm/exact/facilitator"
import { ExactSvmScheme } from "@x402/svm/exact/client"
import { ExactSvmSchemeV1 } from "@x402/svm/v1"
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { assetOf, caip2 } from "../../../src/domain/Network.ts"
import { memoOf, svmMemo, verifySvmExact } from "../../../src/domain/protocol/SvmExact.ts"
import { changes } from "../../domain/protocol/SvmChanges.ts"
import { keysOf, seedOf } from "../../domain/protocol/SvmTransactions.ts"
import { coSign, openChain } from "./chain.mjs"

const versionOf = (name) =>
  JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8")).version
const label = `@x402/svm ${versionOf("@x402/svm")}, litesvm ${versionOf("litesvm")}`

let failed = 0
const check = async (what, run) => {
  try {
    await run()
    console.log(`ok   ${label}: ${what}`)
  } catch (error) {
    failed += 1
    console.log(`FAIL ${label}: ${what}: ${error instanceof Error ? error.message : error}`)
  }
}
const same = (what, found, wanted) => {
  if (found !== wanted) throw new Error(`${what} is ${found}, not ${wanted}`)
}

const price = 10_000n
const funds = 1_000_000n
const mint = assetOf("solana-devnet", "USDC").address
const [payer, feePayer, seller] = ["payer", "fee payer", "seller"].map(keysOf)
const signer = await createKeyPairSignerFromPrivateKeyBytes(seedOf("payer"))

const chain = openChain(mint)
chain.airdrop(feePayer.address, 1_000_000_000n)
for (const name of ["payer", "seller", "stranger", "victim"])
  chain.give(keysOf(name).address, name === "seller" ? 0n : funds)

const offer = (extra = {}) => ({
  scheme: "exact",
  network: caip2["solana-devnet"],
  amount: String(price),
  asset: mint,
  payTo: seller.address,
  maxTimeoutSeconds: 300,
  extra: { feePayer: feePayer.address, memo: svmMemo("pr_test", randomUUID()), ...extra }
})
const context = { now: Date.now(), feePayers: [feePayer.address] }

/** What the node was asked, and a resource that wants to be paid for. */
const asked = []
const payments = []
const http = createServer((request, response) => {
  const chunks = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => {
    const json = (status, body, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", ...headers })
      response.end(JSON.stringify(body))
    }
    if (request.url === "/rpc") {
      const body = JSON.parse(Buffer.concat(chunks).toString())
      asked.push(body.method)
      return json(200, chain.rpc(body))
    }
    const header = request.headers["payment-signature"]
    if (header === undefined) {
      const resource = { url: `${base}/paid`, description: "Paid", mimeType: "application/json" }
      const extra = request.url === "/paid" ? { recentBlockhash: chain.blockhash() } : {}
      const accepts = [offer(extra)]
      const required = { x402Version: 2, error: "Payment required", resource, accepts }
      return json(402, {}, { "payment-required": encodePaymentRequiredHeader(required) })
    }
    const { accepted, payload } = decodePaymentSignatureHeader(header)
    const verdict = verifySvmExact(payload, accepted, context)
    payments.push({ accepted, payload, verdict })
    return verdict._tag === "Accepted" ? json(200, { payer: verdict.payer }) : json(402, { error: verdict.reason })
  })
})
await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve))
const base = `http://127.0.0.1:${http.address().port}`
const rpcUrl = `${base}/rpc`

const scheme = new ExactSvmScheme(signer, { rpcUrl })
const pay = wrapFetchWithPayment(fetch, new x402Client().register("solana:*", scheme))

/** Pays as fee payer and seller would see it: executed, and the money moved by exactly the price. */
const settle = ({ payload, verdict }) => {
  same("verdict", verdict.reason ?? verdict._tag, "Accepted")
  same("payer", verdict.payer, payer.address)
  const before = [payer, seller, feePayer].map(({ address }) => chain.tokens(address))
  const lamports = chain.lamports(feePayer.address)
  const transaction = coSign(payload.transaction, feePayer)
  same("execution", chain.send(transaction), undefined)
  const [paid, earned, ours] = [payer, seller, feePayer].map(
    ({ address }, index) => chain.tokens(address) - before[index]
  )
  same("paid", -paid, price)
  same("earned", earned, price)
  same("tokens of the fee payer", ours, 0n)
  const fee = lamports - chain.lamports(feePayer.address)
  if (fee > 10_100n) throw new Error(`the fee was ${fee} lamports`)
  return transaction
}

await check("unmodified fetch pays an offer with a blockhash, and asks our node for the mint only", async () => {
  same("status", (await pay(`${base}/paid`)).status, 200)
  same("asked", asked.splice(0).join(), "getAccountInfo")
})
const [first] = payments
await check("the chain executes it once we sign as fee payer: balances move by exactly the price", () => {
  settle(first)
})
await check("the chain refuses it a second time, and its nonce is the same", () => {
  const again = chain.send(coSign(first.payload.transaction, feePayer))
  if (!String(again).includes("AlreadyProcessed")) throw new Error(`sending it again: ${again}`)
  same("nonce", verifySvmExact(first.payload, first.accepted, context).nonce, first.verdict.nonce)
})
await check(
  "without a blockhash in the offer the client takes our node's, and the chain executes that too",
  async () => {
    chain.expireBlockhash()
    same("status", (await pay(`${base}/paid-without-blockhash`)).status, 200)
    same("asked", asked.splice(0).join(), "getLatestBlockhash")
    settle(payments.at(-1))
  }
)
await check("8 payments at once are 8 transactions", async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => pay(`${base}/paid`)))
  same("statuses", answers.map(({ status }) => status).join(), Array(8).fill(200).join())
  same("nonces", new Set(payments.slice(-8).map(({ verdict }) => verdict.nonce)).size, 8)
  for (const payment of payments.slice(-8)) settle(payment)
})
await check("the version 1 client pays, and its memo says for what", async () => {
  const { amount, maxTimeoutSeconds, ...rest } = offer()
  const requirements = { ...rest, network: "solana-devnet", maxAmountRequired: amount, maxTimeoutSeconds }
  const { payload } = await new ExactSvmSchemeV1(signer, { rpcUrl }).createPaymentPayload(1, requirements)
  same("memo", memoOf(payload), rest.extra.memo)
  settle({ payload, verdict: verifySvmExact(payload, { ...rest, amount, maxTimeoutSeconds }, context) })
})
await check("one offer paid twice is one transaction: offers differ in their memo, so that payments do", async () => {
  const recentBlockhash = chain.blockhash()
  const twice = offer({ recentBlockhash })
  const [one, again, other] = await Promise.all(
    [twice, twice, offer({ recentBlockhash })].map((accepted) => scheme.createPaymentPayload(2, accepted))
  )
  same("the same offer's transaction", again.payload.transaction, one.payload.transaction)
  if (other.payload.transaction === one.payload.transaction) throw new Error("another offer's transaction is the same")
})
await check("a payment for one offer pays no other", async () => {
  const { payload } = await scheme.createPaymentPayload(2, offer())
  same("reason", verifySvmExact(payload, offer(), context).reason, "invalid_exact_svm_payload_memo_mismatch")
})

/** The reference implementation's facilitator over the same chain, with the limits we have. */
const reference = new OfficialFacilitator(
  {
    getAddresses: () => [feePayer.address],
    simulateTransaction: async (base64) => {
      const error = chain.simulate(coSign(base64, feePayer))
      if (error !== undefined) throw new Error(error)
    }
  },
  undefined,
  { maxComputeUnits: 400_000, maxRequiredSignatures: 2 }
)
const silently = async (run) => {
  const { error } = console
  console.error = () => {}
  try {
    return await run()
  } finally {
    console.error = error
  }
}
for (const { make, name, reason, reference: other } of changes) {
  await check(
    `${name}: ${reason}${other === undefined ? ", as the reference says" : ` (reference: ${other})`}`,
    async () => {
      const accepted = offer({ recentBlockhash: chain.blockhash() })
      const { payload } = await scheme.createPaymentPayload(2, accepted)
      const changed = { transaction: make(payload.transaction, accepted) }
      const verdict = verifySvmExact(changed, accepted, context)
      same("verdict", verdict._tag === "Accepted" ? "accepted" : verdict.reason, reason)
      const { invalidReason, isValid } = await silently(() =>
        reference.verify({ accepted, payload: changed }, accepted)
      )
      same("reference", isValid ? "accepted" : String(invalidReason).split(":")[0], other ?? reason)
    }
  )
}

http.close()
http.closeAllConnections()
if (failed > 0) console.log(`${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
