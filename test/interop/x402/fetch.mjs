import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch"
import * as older from "@x402/fetch-2.11"
import { ExactEvmScheme } from "@x402/evm"
import { ExactEvmScheme as OlderScheme } from "@x402/evm-2.11"
import { evmPayer } from "./Evm.ts"
import { suite, watched } from "./Suite.ts"
import { versionOf } from "./versionOf.ts"

/** @x402/fetch, the newest release and the one that many still run. */
const generations = {
  "@x402/fetch": { wrap: wrapFetchWithPaymentFromConfig, decode: decodePaymentResponseHeader, Scheme: ExactEvmScheme },
  "@x402/fetch-2.11": {
    wrap: older.wrapFetchWithPaymentFromConfig,
    decode: older.decodePaymentResponseHeader,
    Scheme: OlderScheme
  }
}

for (const [folder, { Scheme, decode, wrap }] of Object.entries(generations)) {
  const { account, payer } = await evmPayer()
  await suite({
    client: "@x402/fetch",
    version: versionOf(folder),
    protocol: "x402 v2 exact",
    network: "base-sepolia",
    payer,
    header: "payment-signature",
    echoesQuote: true,
    pay: (url, init, watch) =>
      wrap(watched(watch), { schemes: [{ network: "eip155:*", client: new Scheme(account) }] })(url, init),
    receipt: (response) => decode(response.headers.get("PAYMENT-RESPONSE")).transaction
  })
}
