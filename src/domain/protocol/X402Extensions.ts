// Extensions of x402 that a 402 may carry besides `sign-in-with-x`.
import type { Endpoint } from "../Endpoint.ts"

/**
 * `payment-identifier`: a client may name its payment. Never required: plain clients cannot. Its schema is of the draft that x402 means
 * where none is named: the header has little room.
 */
export const paymentIdentifier = {
  info: { required: false },
  schema: {
    type: "object",
    properties: {
      required: { type: "boolean" },
      id: { type: "string", minLength: 16, maxLength: 128, pattern: "^[a-zA-Z0-9_-]+$" }
    },
    required: ["required"]
  }
}

const withBody = new Set(["POST", "PUT", "PATCH"])

/** `bazaar`: how the endpoint is called, for catalogues. What it answers is the origin's to say. */
export const bazaar = ({ method }: Pick<Endpoint, "method">) => {
  const called = method === "ANY" ? "GET" : method
  const body = withBody.has(called)
  const input = { type: "http", method: called, ...(body ? { bodyType: "json", body: {} } : {}) }
  return {
    info: { input },
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        input: {
          type: "object",
          properties: {
            type: { type: "string", const: "http" },
            method: { type: "string", enum: body ? [...withBody] : ["GET", "HEAD", "DELETE"] },
            ...(body
              ? { bodyType: { type: "string", enum: ["json", "form-data", "text"] }, body: { type: "object" } }
              : {})
          },
          required: body ? ["type", "method", "bodyType", "body"] : ["type", "method"]
        }
      },
      required: ["input"]
    }
  }
}
