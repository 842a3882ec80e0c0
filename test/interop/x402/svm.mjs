import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit"
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { ExactSvmScheme } from "@x402/svm"
import { randomBytes } from "node:crypto"
import { suite, watched } from "./Suite.ts"
import { funded, server } from "./World.ts"
import { versionOf } from "./versionOf.ts"

const signer = await createKeyPairSignerFromPrivateKeyBytes(randomBytes(32))
const scheme = new ExactSvmScheme(signer, { rpcUrl: `${server.baseUrl}/v1/sandbox/solana-rpc` })

await suite({
  client: "@x402/svm",
  version: versionOf("@x402/svm"),
  protocol: "x402 v2 exact",
  network: "solana-devnet",
  payer: await funded("solana-devnet", signer.address),
  header: "payment-signature",
  echoesQuote: true,
  pay: (url, init, watch) =>
    wrapFetchWithPaymentFromConfig(watched(watch), { schemes: [{ network: "solana:*", client: scheme }] })(url, init),
  receipt: (response) => decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE")).transaction
})
