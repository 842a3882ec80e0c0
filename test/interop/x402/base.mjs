import { ExactEvmScheme } from "@x402/evm"
import { UptoEvmScheme } from "@x402/evm/upto/client"
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import { Receipt } from "mppx"
import { Mppx, evm } from "mppx/client"
import { assets } from "mppx/evm/client"
import { versionOf } from "./versionOf.ts"

const x402 = {
  client: "@x402/fetch",
  version: versionOf("@x402/fetch"),
  header: "payment-signature",
  receipt: (response) => decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE")).transaction
}
const wrapped = (scheme) => (through) =>
  wrapFetchWithPaymentFromConfig(through, { schemes: [{ network: "eip155:*", client: scheme }] })

/** The clients of this folder, each set up to pay from an account on Base. */
export const clients = [
  {
    ...x402,
    protocol: "x402 v2 exact",
    paying: (account) => wrapped(new ExactEvmScheme(account))
  },
  {
    ...x402,
    protocol: "x402 v2 upto",
    endpoint: { schemes: ["upto"] },
    needsAllowance: true,
    paying: (account) => wrapped(new UptoEvmScheme(account))
  },
  {
    client: "mppx",
    version: versionOf("mppx"),
    protocol: "MPP evm/charge",
    header: "authorization",
    endpoint: { mpp: true },
    paying: (account) => (through) =>
      Mppx.create({
        methods: [evm({ account, networks: [8453], currencies: [assets.base.USDC] })],
        fetch: through,
        polyfill: false
      }).fetch,
    receipt: (response) => Receipt.fromResponse(response).reference
  }
]
