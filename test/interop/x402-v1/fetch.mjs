import { createWalletClient, http } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { decodeXPaymentResponse, wrapFetchWithPayment } from "x402-fetch"
import { suite, watched } from "../x402/Suite.ts"
import { funded } from "../x402/World.ts"
import { versionOf } from "../x402/versionOf.ts"

const account = privateKeyToAccount(generatePrivateKey())
// It signs only; nothing listens where its chain would be.
const wallet = createWalletClient({ account, chain: baseSepolia, transport: http("http://127.0.0.1:9") })

await suite({
  client: "x402-fetch",
  version: versionOf("x402-fetch", import.meta.dirname),
  protocol: "x402 v1 exact",
  network: "base-sepolia",
  payer: await funded("base-sepolia", account.address),
  header: "x-payment",
  echoesQuote: false,
  pay: (url, init, watch) => wrapFetchWithPayment(watched(watch), wallet)(url, init),
  receipt: (response) => decodeXPaymentResponse(response.headers.get("X-PAYMENT-RESPONSE")).transaction
})
