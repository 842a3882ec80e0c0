// Buys at a shop over UCP, up to the order: there is no operation that completes a checkout.
import { Effect } from "effect"
import { readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { toolResult } from "#domain/protocol/JsonRpc.ts"
import {
  isUcpAnswer,
  messagesOf,
  orderBody,
  readCheckout,
  readProducts,
  toolArguments,
  type UcpCheckout,
  type UcpMessage,
  type UcpOrder,
  type UcpProduct
} from "#domain/protocol/UcpWords.ts"
import { asFields, type Fields } from "#domain/protocol/X402Payload.ts"
import { newUuid } from "../../NewId.ts"
import type { SiteAnswer, Visit } from "../../SiteVisits.ts"
import type { UcpAccess } from "./Surroundings.ts"
import { type Broken, callRpc, type Guarded, judgeSilence, type Unseen } from "./Calls.ts"
import { profileFor } from "#domain/protocol/UcpAgentProfile.ts"

/** The shop did it. */
export interface Done<A> {
  readonly _tag: "Done"
  readonly value: A
  readonly outcome: SiteAnswer
}
/** The shop said no, in the protocol. */
export interface Refused {
  readonly _tag: "Refused"
  readonly messages: ReadonlyArray<UcpMessage>
  readonly detail: string
  readonly outcome: SiteAnswer
}
export type UcpReply<A> = Done<A> | Refused | Broken | Guarded | Unseen

export const ucpOperations = [
  "search_catalog",
  "create_cart",
  "get_cart",
  "cancel_cart",
  "create_checkout",
  "get_checkout",
  "update_checkout",
  "cancel_checkout"
] as const
export type UcpOperation = (typeof ucpOperations)[number]

/** A shop that speaks UCP. Where `offers` says no, the operation answers `Broken` without asking. */
export interface UcpClient {
  offers(operation: UcpOperation): boolean
  search(query: string): Effect.Effect<UcpReply<ReadonlyArray<UcpProduct>>>
  createCart(order: UcpOrder): Effect.Effect<UcpReply<UcpCheckout>>
  getCart(id: string): Effect.Effect<UcpReply<UcpCheckout>>
  cancelCart(id: string): Effect.Effect<UcpReply<UcpCheckout>>
  createCheckout(order: UcpOrder): Effect.Effect<UcpReply<UcpCheckout>>
  getCheckout(id: string): Effect.Effect<UcpReply<UcpCheckout>>
  /** Replaces the whole order. */
  updateCheckout(id: string, order: UcpOrder): Effect.Effect<UcpReply<UcpCheckout>>
  cancelCheckout(id: string): Effect.Effect<UcpReply<UcpCheckout>>
}

interface Wanted {
  readonly operation: UcpOperation
  readonly id?: string
  readonly body?: Fields
}

/** Method and path of an operation over REST, after the endpoint. */
const restOf = ({ id = "", operation }: Wanted): readonly ["GET" | "POST" | "PUT", string] => {
  const name = encodeURIComponent(id.toWellFormed())
  switch (operation) {
    case "search_catalog":
      return ["POST", "/catalog/search"]
    case "create_cart":
      return ["POST", "/carts"]
    case "get_cart":
      return ["GET", `/carts/${name}`]
    case "cancel_cart":
      return ["POST", `/carts/${name}/cancel`]
    case "create_checkout":
      return ["POST", "/checkout-sessions"]
    case "get_checkout":
      return ["GET", `/checkout-sessions/${name}`]
    case "update_checkout":
      return ["PUT", `/checkout-sessions/${name}`]
    case "cancel_checkout":
      return ["POST", `/checkout-sessions/${name}/cancel`]
  }
}

/** Under what name a tool takes its body. */
const bodyName = (operation: UcpOperation): string =>
  operation === "search_catalog" ? "catalog" : operation.endsWith("_cart") ? "cart" : "checkout"

type Said = { readonly _tag: "Said"; readonly said: Fields; readonly outcome: SiteAnswer }

const overMcp = (visit: Visit, access: UcpAccess, profile: string) => (wanted: Wanted) => {
  const { body, id, operation } = wanted
  const values = { ...(id === undefined ? {} : { id }), ...(body === undefined ? {} : { [bodyName(operation)]: body }) }
  const meta = { profile, key: newUuid() }
  const params = { name: operation, arguments: toolArguments(access.version, meta, values) }
  return Effect.map(
    callRpc(visit, access.endpoint, "tools/call", params),
    (call): Said | Exclude<UcpReply<never>, Done<never>> => {
      if (call._tag === "RpcError") {
        const message = { type: "error", code: String(call.code), severity: null, text: call.message }
        return { _tag: "Refused", messages: [message], detail: `${call.code} ${call.message}`, outcome: call.outcome }
      }
      if (call._tag !== "Result") return call
      const said = toolResult(call.result)
      if (said !== undefined) return { _tag: "Said", said, outcome: call.outcome }
      return { _tag: "Broken", why: "the tool answered without an object", outcome: call.outcome }
    }
  )
}

/** An address below an endpoint, which has no slash at its end. */
export const below = (endpoint: URL, path: string): URL => {
  const url = new URL(endpoint)
  let length = url.pathname.length
  while (url.pathname[length - 1] === "/") length--
  url.pathname = url.pathname.slice(0, length) + path
  return url
}

const overRest = (visit: Visit, access: UcpAccess, profile: string) => (wanted: Wanted) => {
  const [method, path] = restOf(wanted)
  const request = {
    method,
    url: below(access.endpoint, path),
    accept: "application/json",
    headers: [
      ["UCP-Agent", `profile="${profile}"`],
      ["Request-Id", newUuid()],
      ...(method === "GET"
        ? []
        : [["Idempotency-Key", newUuid()] as const, ["Content-Type", "application/json"] as const])
    ] as const,
    ...(method === "GET" ? {} : { body: JSON.stringify(wanted.body ?? {}) })
  }
  return Effect.map(visit.ask(request), (outcome): Said | Broken | Guarded | Unseen => {
    if (outcome._tag === "NoAnswer" || outcome.challenge !== undefined) return judgeSilence(outcome, "")
    const read = readBoundedJson(outcome.text)
    const said = read._tag === "Json" ? asFields(read.value) : undefined
    if (said !== undefined && (outcome.status < 300 || isUcpAnswer(said))) return { _tag: "Said", said, outcome }
    return judgeSilence(outcome, read._tag === "Json" ? "JSON that is not of UCP" : read.why)
  })
}

/** Speaks to a shop with what a scan found. */
export const make = Effect.fnUntraced(function* (visit: Visit, access: UcpAccess) {
  const profile = profileFor(visit, access.version)
  const send = (access.transport === "mcp" ? overMcp : overRest)(visit, access, profile)
  const offers = (operation: UcpOperation) => access.tools.includes(operation)

  const ask = <A>(wanted: Wanted, read: (said: Fields) => A | undefined) => {
    if (!offers(wanted.operation)) {
      const outcome = { _tag: "NoAnswer", reason: "bad_request", detail: "not offered", ms: 0 } as const
      return Effect.succeed<UcpReply<A>>({ _tag: "Broken", why: `${wanted.operation} is not offered`, outcome })
    }
    return Effect.map(send(wanted), (reply): UcpReply<A> => {
      if (reply._tag !== "Said") return reply
      const { outcome, said } = reply
      const value = asFields(said["ucp"])?.["status"] === "error" ? undefined : read(said)
      if (value !== undefined && isUcpAnswer(said)) return { _tag: "Done", value, outcome }
      const messages = messagesOf(said)
      if (!isUcpAnswer(said) && messages.length === 0) return { _tag: "Broken", why: "answered without UCP", outcome }
      const [first] = messages
      const detail = first === undefined ? "refused without a message" : `${first.code} ${first.text}`
      return { _tag: "Refused", messages, detail, outcome }
    })
  }
  const client: UcpClient = {
    offers,
    search: (query) => ask({ operation: "search_catalog", body: { query, pagination: { limit: 10 } } }, readProducts),
    createCart: (order) => ask({ operation: "create_cart", body: orderBody(order) }, readCheckout),
    getCart: (id) => ask({ operation: "get_cart", id }, readCheckout),
    cancelCart: (id) => ask({ operation: "cancel_cart", id }, readCheckout),
    createCheckout: (order) => ask({ operation: "create_checkout", body: orderBody(order) }, readCheckout),
    getCheckout: (id) => ask({ operation: "get_checkout", id }, readCheckout),
    updateCheckout: (id, order) => ask({ operation: "update_checkout", id, body: orderBody(order) }, readCheckout),
    cancelCheckout: (id) => ask({ operation: "cancel_checkout", id }, readCheckout)
  }
  return client
})
