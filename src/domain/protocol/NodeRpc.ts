// JSON-RPC 2.0 between a client and a node of a chain.
import { Schema } from "effect"

/** How many requests come in one batch, and how many parameters in one request. */
export const rpcLimits = { batch: 32, params: 8 }

/** Described, because generators of clients cannot write a list whose schema does not say what is in it. */
const RpcParam = Schema.Json.annotate({ description: "What the method takes" })
const RpcId = Schema.Union([Schema.String.check(Schema.isMaxCodePoints(100)), Schema.Int])

/** A request to a node, under the name that it has in the description of the API. */
export const rpcRequest = (identifier: string) =>
  Schema.Struct({
    jsonrpc: Schema.Literal("2.0"),
    id: RpcId,
    method: Schema.String.check(Schema.isMinLength(1), Schema.isMaxCodePoints(100)),
    params: Schema.optionalKey(Schema.Array(RpcParam).check(Schema.isMaxLength(rpcLimits.params)))
  }).annotate({ identifier })
export type RpcRequest = ReturnType<typeof rpcRequest>["Type"]

/** What a node answers, likewise. */
export const rpcAnswer = (identifier: string) =>
  Schema.Union([
    Schema.Struct({ jsonrpc: Schema.Literal("2.0"), id: RpcId, result: Schema.Json }),
    Schema.Struct({
      jsonrpc: Schema.Literal("2.0"),
      id: RpcId,
      error: Schema.Struct({ code: Schema.Int, message: Schema.String })
    })
  ]).annotate({ identifier })
export type RpcAnswer = ReturnType<typeof rpcAnswer>["Type"]
