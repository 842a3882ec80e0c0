import { Schema } from "effect"
import { EndpointId, PaymentId } from "./Ids.ts"

/** What the simulated agent does, in order. */
export const TestStep = Schema.Literals(["fund", "discover", "pay", "call", "verify"])
export type TestStep = typeof TestStep.Type

/** How a simulated agent fared with an endpoint. Steps after a failed one are skipped. */
export const EndpointTest = Schema.Struct({
  status: Schema.Literals(["passed", "failed"]),
  endpointId: EndpointId,
  paymentId: Schema.NullOr(PaymentId),
  duration_ms: Schema.Int,
  steps: Schema.Array(
    Schema.Struct({
      step: TestStep,
      status: Schema.Literals(["passed", "failed", "skipped"]),
      duration_ms: Schema.Int,
      /** The status of the HTTP answer, in steps that have one. */
      http_status: Schema.NullOr(Schema.Int),
      detail: Schema.String
    })
  )
}).annotate({ identifier: "EndpointTest" })
export type EndpointTest = typeof EndpointTest.Type
