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
      description:
        "The ways to pay by x402 version 1, of which one is enough; none where only `upto` is taken, which it does not know",
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

/** To programs that look for what is paid before they call (MPP's discovery). The price is the operator's: the 402 says it. */
const paymentInfo = {
  protocols: ["x402", "mpp"],
  offers: [
    { intent: "charge", method: "evm", amount: null, description: "Without a key, at the price that the 402 names" }
  ]
}

const headers = {
  "PAYMENT-REQUIRED": { schema: text, description: "The offer for x402 version 2: JSON in base64" },
  "WWW-Authenticate": { schema: text, description: "The offer for MPP: `Payment …`" }
}

/** What a seller takes and answers is his own: of any kind, and often none of JSON. */
const ofTheSeller = { "*/*": { schema: {} } }

const refusal = {
  type: "object",
  properties: { code: { ...text, description: "What was wrong, for programs; all codes are at `/docs/errors`" } },
  required: ["type", "title", "status", "detail", "code", "request_id"],
  additionalProperties: true
} as const

const offer = { "application/json": { schema: { $ref: "#/components/schemas/PaymentOffer" } } }

/**
 * Everything below an endpoint's address is a call of it; two methods stand for all that it may serve. Without `x-payment-info`: programs
 * call what has it to see the price, and where they find no endpoint the whole server is broken to them (mppx validate). Others take what
 * has none for free until they call it (agentcash).
 */
const gatewayCall = (method: "get" | "post") => ({
  tags: ["Payments for calls"],
  operationId: `gateway.${method}`,
  summary: `Call a priced endpoint by ${method.toUpperCase()}`,
  description:
    "The `gatewayUrl` of an endpoint. Without a payment it answers 402 with its price and the ways to pay; with one the request goes on to " +
    "the seller's own server and its answer comes back with a receipt; so does what is below the address, where the endpoint's `path` ends " +
    "in `/*`. Paid by " +
    "`X-Payment-Proof` (the `proof` of `POST /v1/x402/pay`), `PAYMENT-SIGNATURE` (x402 version 2), `X-PAYMENT` (version 1) or " +
    "`Authorization: Payment` (MPP). What may be called: `GET /v1/x402/discovery`, or `GET /v1/x402/discovery/openapi.json` with prices. " +
    "No credential is needed.",
  security: [],
  parameters: [
    {
      name: "endpointId",
      in: "path",
      required: true,
      schema: { ...text, format: "uuid" },
      description: "The id of the endpoint"
    },
    {
      name: "X-Payment-Proof",
      in: "header",
      required: false,
      schema: text,
      description: "The `proof` of `POST /v1/x402/pay`, where the call is paid from a wallet here"
    }
  ],
  ...(method === "post" && {
    requestBody: {
      required: false,
      content: ofTheSeller,
      description: "What the seller takes"
    }
  }),
  responses: {
    "200": {
      description: "The seller's own answer, of whatever kind and of any status below 400",
      headers: {
        "X-Payment-Id": { schema: text, description: "The payment" },
        "X-Payment-Amount": { schema: text, description: "What was charged, as a decimal; absent while that is open" },
        "PAYMENT-RESPONSE": { schema: text, description: "The receipt of x402 version 2: JSON in base64" }
      },
      content: ofTheSeller
    },
    "402": { description: "PAYMENT_REQUIRED", headers, content: { ...offer, ...ofTheSeller } },
    default: {
      description:
        "The seller's own error, which costs nothing unless the endpoint charges for it, or a refusal of ours: then `X-Service-Error` has " +
        "its code, and the body is `application/problem+json`",
      content: { "application/problem+json": { schema: refusal }, ...ofTheSeller }
    }
  }
})

interface Operation {
  security?: ReadonlyArray<object>
  responses: Record<string, { readonly description?: string; readonly content?: object; readonly headers?: object }>
}

/**
 * Says of every operation that is sold what it answers to whoever has no key, the schema `PaymentOffer`, and how a priced endpoint is
 * called, which is no operation of ours.
 */
export const selling = (paths: Record<string, Record<string, Operation>>) => {
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      if (goodFor(method.toUpperCase(), path) === undefined) continue
      const { content, description } = operation.responses["402"] ?? {}
      operation.responses["402"] = {
        description: ["PAYMENT_REQUIRED", ...(description === undefined ? [] : [description])].join(" | "),
        headers,
        content: { ...offer, ...content }
      }
      operation.security = [{}, ...(operation.security ?? [])]
      Object.assign(operation, { "x-payment-info": paymentInfo })
    }
  }
  Object.assign(paths, { "/x402/{endpointId}": { get: gatewayCall("get"), post: gatewayCall("post") } })
}
