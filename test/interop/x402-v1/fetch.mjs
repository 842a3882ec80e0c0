import { createWalletClient, http } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from "x402-fetch"
import { decodeBase58, encodeBase58 } from "../../../src/domain/Network.ts"
import { keyPair } from "../../../src/domain/protocol/SolanaKeys.ts"
import { suite, watched } from "../x402/Suite.ts"
import { funded, server } from "../x402/World.ts"
import { versionOf } from "../x402/versionOf.ts"

const account = privateKeyToAccount(generatePrivateKey())
// It signs only; nothing listens where its chain would be.
const wallet = createWalletClient({ account, chain: baseSepolia, transport: http("http://127.0.0.1:9") })

const common = {
  client: "x402-fetch",
  version: versionOf("x402-fetch", import.meta.dirname),
  protocol: "x402 v1 exact",
  header: "x-payment",
  echoesQuote: false,
  receipt: (response) => decodeXPaymentResponse(response.headers.get("X-PAYMENT-RESPONSE")).transaction
}

await suite({
  ...common,
  network: "base-sepolia",
  payer: await funded("base-sepolia", account.address),
  pay: (url, init, watch) => wrapFetchWithPayment(watched(watch), wallet)(url, init)
})

// It has a node simulate its payment before it signs.
const seed = crypto.getRandomValues(new Uint8Array(32))
const { address } = keyPair(seed)
const signer = await createSigner("solana-devnet", encodeBase58(Buffer.concat([seed, decodeBase58(address)])))
const config = { svmConfig: { rpcUrl: `${server.baseUrl}/v1/sandbox/solana-rpc` } }
await suite({
  ...common,
  network: "solana-devnet",
  payer: await funded("solana-devnet", address),
  pay: (url, init, watch) => wrapFetchWithPayment(watched(watch), signer, undefined, undefined, config)(url, init)
})
