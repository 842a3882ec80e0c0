import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DiscoveredResources } from "#domain/Discovery.ts"
import { Facilitation, SettleResponse, Supported, VerifyResponse } from "#domain/protocol/Facilitation.ts"
import { Requires } from "./Authorization.ts"
import { resourcesDocumented, resourcesQuery } from "./Discovery.ts"
import { documented } from "./Documented.ts"
import { Integrators, Visitors } from "./Visitors.ts"

const requirements = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x51908f598a5e0d8f1a3babfa6df76f9704dad072",
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" }
} as const
const payer = "0x857b06519e91e3a54538791bdbb0e22373e36b66"
const facilitation = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: requirements,
    payload: {
      signature: `0x${"2d".repeat(64)}1c`,
      authorization: {
        from: payer,
        to: requirements.payTo,
        value: "10000",
        validAfter: "0",
        validBefore: "1767323345",
        nonce: `0x${"f3".repeat(32)}`
      }
    }
  },
  paymentRequirements: requirements
} as const

const whoMayCall =
  "In the sandbox no credential is needed (requests without one are counted by address); a live server asks for an API key " +
  "(`createAuthHeaders` of the official client), "

const verify = HttpApiEndpoint.post("verify", "/verify", { payload: Facilitation, success: VerifyResponse })
  .middleware(Integrators)
  .annotate(Requires, { resource: "x402", action: "read" })
  .annotateMerge(
    documented({
      summary: "Verify a payment for another server",
      description:
        "The facilitator interface of x402: point `HTTPFacilitatorClient({ url })` of the official middleware at " +
        "`/v1/x402/facilitator`. Checks signature, amount, receiver, asset, network, validity and the payer's money, and uses nothing " +
        "up. The answer is 200 whatever it says; `invalidReason` is spelled as x402 spells it. On a live server `payTo` must be the address " +
        "of a wallet of the caller's tenant, as for settling, and a price whose settlement was known only after everybody was told `settlement_pending` " +
        "verifies until it is said to be settled, also after its time: its payer may call again, and is told `settlement_pending` until it " +
        "is known. Takes payloads of versions 2 and 1 (`x402Version` may be left to the payload): " +
        `\`exact\` on Base (EIP-3009 and Permit2) and Solana, \`upto\` on Base. ${whoMayCall}with the scope \`x402:read\`.`,
      body: facilitation,
      answer: { isValid: true, payer }
    })
  )

const settle = HttpApiEndpoint.post("settle", "/settle", { payload: Facilitation, success: SettleResponse })
  .middleware(Integrators)
  .annotate(Requires, { resource: "x402", action: "write" })
  .annotateMerge(
    documented({
      summary: "Settle a payment for another server",
      description:
        "Takes the money of a payment that verifies: `amount` of the requirements, which under `upto` may be less than what was " +
        "signed, also nothing. In the sandbox it moves in our ledger, from the wallet with the payer's address to the wallet with the " +
        "address `payTo`, without a fee; there must be both. One authorisation moves money once, here or at a gateway endpoint, and " +
        "is said to be settled once: a copy of it is answered `invalid_exact_evm_nonce_already_used` (on Solana `duplicate_settlement`), " +
        "with the transaction if it went to the same receiver, so that a server whose answer got lost can see it. It takes no idempotency key: the authorisation is one. On a live server `payTo` must be the address of a wallet of the caller's tenant, the money moves on " +
        "the chain, and `settlement_pending`, after ten seconds, says that the outcome is not known yet: ask again. What was begun is told also " +
        "after the authorisation has ended. The answer is 200 whatever it says. " +
        `${whoMayCall}with the scope \`x402:write\`.`,
      body: facilitation,
      answer: {
        success: true,
        payer,
        transaction: `0x${"89".repeat(32)}`,
        network: requirements.network,
        amount: requirements.amount
      }
    })
  )

const supported = HttpApiEndpoint.get("supported", "/supported", { success: Supported })
  .middleware(Visitors)
  .annotateMerge(
    documented({
      summary: "See which payments the facilitator settles",
      description:
        "One kind for each version, scheme and network of this environment. `extra` has what requirements must carry: `feePayer` on " +
        "Solana, `facilitatorAddress` under `upto`. No credential is needed.",
      answer: {
        kinds: [
          { x402Version: 2, scheme: "exact", network: requirements.network },
          { x402Version: 1, scheme: "exact", network: "base-sepolia" }
        ],
        extensions: [],
        signers: {}
      }
    })
  )

const resources = HttpApiEndpoint.get("resources", "/discovery/resources", {
  query: resourcesQuery,
  success: DiscoveredResources
})
  .middleware(Visitors)
  .annotateMerge(
    resourcesDocumented(
      "Discover paid resources through the facilitator",
      "The list of `/v1/x402/discovery` at the place where clients of a facilitator look for it. No credential is needed."
    )
  )

export class FacilitatorApi extends HttpApiGroup.make("facilitator")
  .add(verify, settle, supported, resources)
  .prefix("/v1/x402/facilitator")
  .annotateMerge(
    OpenApi.annotations({
      title: "Facilitator",
      description:
        "Verification and settlement of x402 payments for other servers, as the official middleware asks for it."
    })
  ) {}
