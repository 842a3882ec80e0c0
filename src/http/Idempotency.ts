import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { Effect, type Schema } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { IdempotencyKeysDiffer } from "#api/Refusals.ts"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { agentOf } from "#domain/Ownership.ts"
import type { Principal } from "#domain/Principal.ts"
import { IdempotencyKeys } from "#services/IdempotencyKeys.ts"

/** Both headers that may carry a key. */
export const keyHeaders = ["idempotency-key", "x-idempotency-key"] as const

/** A key as a body would bring it: Node reads headers as Latin-1, and what was sent is UTF-8. Empty, as no key is, when it is not. */
export const keyOf = (header: string): string => {
  const bytes = Buffer.from(header, "latin1")
  return isUtf8(bytes) ? bytes.toString("utf8") : ""
}

/** Replaces the keys in the headers of a request by what they say. */
export const readKeys = (headers: IncomingHttpHeaders): void => {
  for (const name of keyHeaders) {
    const header = headers[name]
    if (typeof header === "string") headers[name] = keyOf(header)
  }
}

/** JSON with sorted keys and without members that are not there, so that equal parameters are equal text. */
const canonical = (value: unknown): string => {
  if (typeof value === "bigint") return `"${value}"`
  if (value instanceof Date) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  return typeof value === "object" && value !== null ? members(value, undefined) : (JSON.stringify(value) ?? "null")
}

/** The same of an object, without the members that are as `absent`. */
const members = (object: object, absent: null | undefined): string => {
  let text = ""
  for (const [name, member] of Object.entries(object).sort(byName)) {
    if (member === undefined || member === absent) continue
    text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonical(member)}`
  }
  return `{${text}}`
}

const byName = ([left]: readonly [string, unknown], [right]: readonly [string, unknown]) => (left < right ? -1 : 1)

/** One text for equal decoded parameters, whatever the order of their fields. A parameter that is null is one that was left out. */
export const fingerprint = (parameters: { readonly [name: string]: unknown }): string =>
  hash("sha256", members(parameters, null))

/**
 * The caller's claim that this request and others under the same key are one, from the headers or from the body's field;
 * undefined when it names no key. `parameters` is everything decoded that decides what happens (path and body); a default that is
 * written out in them is one that was left out.
 */
export const claim = (request: {
  readonly operation: string
  readonly principal: Principal
  readonly headers: { readonly "idempotency-key"?: string; readonly "x-idempotency-key"?: string }
  readonly bodyKey?: string | undefined
  readonly parameters: { readonly [name: string]: unknown }
}): Effect.Effect<IdempotencyClaim | undefined, IdempotencyKeysDiffer> => {
  const { operation, principal, headers, bodyKey } = request
  const named = [headers["idempotency-key"], headers["x-idempotency-key"], bodyKey].filter((key) => key !== undefined)
  const [key] = named
  if (key === undefined) return Effect.undefined
  if (named.some((other) => other !== key)) return Effect.fail(new IdempotencyKeysDiffer())
  const agent = agentOf(principal)
  // A tenant's programs share its keys; an agent finds none but its own.
  const scope = agent === undefined ? operation : `${operation} ${agent}`
  // The key itself is no part of what it stands for.
  const { idempotency_key: _, ...parameters } = request.parameters
  return Effect.succeed({ tenant_id: principal.tenant_id, operation: scope, key, fingerprint: fingerprint(parameters) })
}

/** Marks the answer as the stored result of an earlier request. */
export const markReplayed = (replayed: boolean): Effect.Effect<void, never, HttpServerRequest.HttpServerRequest> =>
  replayed
    ? HttpEffect.appendPreResponseHandler((_, response) =>
        Effect.succeed(HttpServerResponse.setHeader(response, "idempotency-replayed", "true"))
      )
    : Effect.void

/** Makes what a request asks for, once if it names a key: what `decide` gives is written together with the key. */
export const once = Effect.map(IdempotencyKeys, (keys) =>
  Effect.fnUntraced(function* <A, I, E, E2>(
    request: Omit<Parameters<typeof claim>[0], "principal">,
    schema: Schema.Codec<A, I>,
    decide: Effect.Effect<Effect.Effect<A, E>, E2>
  ) {
    const claimed = yield* claim({ ...request, principal: yield* CurrentPrincipal })
    const { record, replayed } = yield* keys.once(claimed, schema, decide)
    yield* markReplayed(replayed)
    return record
  })
)
