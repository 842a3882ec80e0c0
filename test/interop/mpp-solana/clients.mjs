import { wrap } from "@faremeter/fetch"
import { createMPPSolanaChargeClient } from "@faremeter/payment-solana/charge"
import { createPaymentHandler } from "@faremeter/payment-solana/exact"
import { parseReceipt } from "@faremeter/types/mpp"
import { createLocalWallet } from "@faremeter/wallet-solana"
import { createKeyPairSignerFromPrivateKeyBytes, createSolanaRpc } from "@solana/kit"
import { Mppx, solana } from "@solana/mpp/client"
import { Receipt } from "mppx"
import { randomBytes } from "node:crypto"
import { suite, watched } from "../x402/Suite.ts"
import { funded, server } from "../x402/World.ts"
import { versionOf } from "../x402/versionOf.ts"

const rpcUrl = `${server.baseUrl}/v1/sandbox/solana-rpc`
const common = { network: "solana-devnet", echoesQuote: true }
const mpp = { ...common, protocol: "MPP solana/charge", header: "authorization" }
const named = (client) => ({ client, version: versionOf(client, import.meta.dirname) })

const signer = await createKeyPairSignerFromPrivateKeyBytes(randomBytes(32))
const methods = [solana.charge({ signer, rpcUrl })]
await suite({
  ...mpp,
  ...named("@solana/mpp"),
  payer: await funded("solana-devnet", signer.address),
  pay: (url, init, watch) => Mppx.create({ methods, fetch: watched(watch), polyfill: false }).fetch(url, init),
  receipt: (response) => Receipt.fromResponse(response).reference
})

const mint = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"
const rpc = createSolanaRpc(rpcUrl)
const owner = await createKeyPairSignerFromPrivateKeyBytes(randomBytes(32))
const wallet = await createLocalWallet("devnet", owner)
const payer = await funded("solana-devnet", owner.address)
const mppHandlers = [createMPPSolanaChargeClient({ wallet, mint, rpc })]
await suite({
  ...mpp,
  ...named("@faremeter/payment-solana"),
  payer,
  pay: (url, init, watch) => wrap(watched(watch), { handlers: [], mppHandlers })(url, init),
  receipt: (response) => parseReceipt(response.headers.get("Payment-Receipt")).reference
})

const handlers = [createPaymentHandler(wallet, mint, rpc)]
await suite({
  ...common,
  ...named("@faremeter/payment-solana"),
  protocol: "x402 v2 exact",
  header: "payment-signature",
  payer,
  pay: (url, init, watch) => wrap(watched(watch), { handlers, returnPaymentFailure: true })(url, init),
  receipt: (response) => JSON.parse(atob(response.headers.get("PAYMENT-RESPONSE"))).transaction
})
