import { Receipt } from "mppx"
import { Mppx, evm } from "mppx/client"
import { assets } from "mppx/evm/client"
import { evmPayer } from "./Evm.ts"
import { suite, watched } from "./Suite.ts"
import { versionOf } from "./versionOf.ts"

const { account, payer } = await evmPayer()
const methods = [evm({ account, networks: [84532], currencies: [assets.baseSepolia.USDC] })]

/** It prefers its own protocol where an endpoint offers both, and pays x402 where that is all there is. */
const protocols = {
  "MPP evm/charge": {
    header: "authorization",
    endpoint: { mpp: true },
    receipt: (response) => Receipt.fromResponse(response).reference
  },
  "x402 v2 exact": {
    header: "payment-signature",
    endpoint: { mpp: false },
    receipt: (response) =>
      JSON.parse(Buffer.from(response.headers.get("PAYMENT-RESPONSE"), "base64").toString()).transaction
  }
}

for (const [protocol, rest] of Object.entries(protocols)) {
  await suite({
    client: "mppx",
    version: versionOf("mppx"),
    protocol,
    network: "base-sepolia",
    payer,
    echoesQuote: true,
    pay: (url, init, watch) => Mppx.create({ methods, fetch: watched(watch), polyfill: false }).fetch(url, init),
    ...rest
  })
}
