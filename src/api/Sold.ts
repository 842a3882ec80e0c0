import { goodFor } from "#domain/ScannerGoods.ts"

const text = { type: "string" } as const

/** The offer of a 402, as clients of x402 version 1 and of the native flow read it. What else is in it is theirs. */
export const paymentOffer = {
  type: "object",
  properties: {
    x402Version: { type: "integer", enum: [1], description: "The version of x402 in which `accepts` is written" },
    error: { ...text, description: "`payment_required`, or what was wrong with the payment that was sent" },
    code: { ...text, enum: ["PAYMENT_REQUIRED"], description: "What kind of answer this is, for programs" },
    accepts: {
      type: "array",
      minItems: 1,
      description: "The ways to pay by x402 version 1, of which one is enough",
      items: {
        type: "object",
        properties: {
          scheme: { ...text, description: "`exact`: what is signed is paid" },
          network: { ...text, description: "The network as version 1 calls it, such as `base-sepolia`" },
          maxAmountRequired: { ...text, pattern: "^\\d+$", description: "In micro-units of the currency" },
          resource: { ...text, description: "The address that is paid for" },
          payTo: { ...text, description: "The address that is paid" },
          asset: { ...text, description: "The contract (Base) or mint (Solana) of the currency" },
          maxTimeoutSeconds: {
            type: "integer",
            description: "For how many seconds what is signed may be valid at most"
          }
        },
        required: ["scheme", "network", "maxAmountRequired", "resource", "payTo", "asset", "maxTimeoutSeconds"],
        additionalProperties: true
      }
    },
    price: { ...text, description: "A decimal" },
    currency: { ...text, description: "The currency of the price" },
    network: { ...text, description: "The network of `receiver`" },
    receiver: { ...text, description: "The address that is paid" },
    payment_request_id: { ...text, description: "What `POST /v1/x402/pay` takes" },
    expires_in: { type: "integer", description: "Seconds in which to pay so" },
    pay_url: { ...text, description: "Where to pay from a wallet here" }
  },
  required: [
    "x402Version",
    "error",
    "code",
    "accepts",
    "price",
    "currency",
    "network",
    "receiver",
    "payment_request_id",
    "expires_in",
    "pay_url"
  ],
  additionalProperties: true,
  description: "What the call costs without a credential, and how to pay for it"
} as const

const headers = {
  "PAYMENT-REQUIRED": { schema: text, description: "The offer for x402 version 2: JSON in base64" },
  "WWW-Authenticate": { schema: text, description: "The offer for MPP: `Payment …`" }
}

interface Operation {
  security?: ReadonlyArray<object>
  responses: Record<string, { readonly description?: string; readonly content?: object; readonly headers?: object }>
}

/** Says of every operation that is sold what it answers to whoever has no key: the schema `PaymentOffer`. */
export const selling = (paths: Record<string, Record<string, Operation>>) => {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (goodFor(method.toUpperCase(), path) === undefined) continue
      const { content, description } = operation.responses["402"] ?? {}
      const offer = { "application/json": { schema: { $ref: "#/components/schemas/PaymentOffer" } } }
      operation.responses["402"] = {
        description: ["PAYMENT_REQUIRED", ...(description === undefined ? [] : [description])].join(" | "),
        headers,
        content: { ...offer, ...content }
      }
      operation.security = [{}, ...(operation.security ?? [])]
    }
  }
}
