import { createWalletClient, http } from "viem"
import { base } from "viem/chains"
import { decodeXPaymentResponse, wrapFetchWithPayment } from "x402-fetch"
import { versionOf } from "../x402/versionOf.ts"

/** The client of this folder, set up to pay from an account on Base. */
export const clients = [
  {
    client: "x402-fetch",
    version: versionOf("x402-fetch", import.meta.dirname),
    protocol: "x402 v1 exact",
    header: "x-payment",
    // It signs only; nothing listens where its chain would be.
    paying: (account) => (through) =>
      wrapFetchWithPayment(
        through,
        createWalletClient({ account, chain: base, transport: http("http://127.0.0.1:9") })
      ),
    receipt: (response) => decodeXPaymentResponse(response.headers.get("X-PAYMENT-RESPONSE")).transaction
  }
]
