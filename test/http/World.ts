import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { Credentials } from "#services/Credentials.ts"
import { buyer, pay, seller, send, wallet } from "./GatewayHarness.ts"
import type { Operation } from "./Description.ts"

/** What stands for a thing in a request, by the name of the field that names it. */
type Names = Readonly<Record<string, string>>

export interface Request {
  readonly id?: string
  readonly body?: unknown
  readonly query?: string
  readonly headers?: Record<string, string>
}

/** A tenant that has one of everything, and can make every call of the description with it. */
export const world = Effect.gen(function* () {
  const { endpoint, key, path, principal, till } = yield* seller((_, response) => response.end("served"))
  const spare = yield* (yield* Credentials).issue({
    tenant_id: principal.tenant_id,
    kind: "api_key",
    name: "spare",
    scopes: ["*:*"]
  })
  const purse = toTypeId("wal", yield* wallet(principal, 5_000_000n))
  const account = toTypeId("acc", principal.account_id)

  /** The thing that `{id}` is in the paths of a group of operations. */
  const ids: Names = {
    accounts: account,
    api_keys: toTypeId("key", spare.id),
    wallets: toTypeId("wal", till),
    endpoints: endpoint.id
  }
  /** Things of this tenant alone, by the fields that name them. */
  const own: Names = { owner_id: account, accountId: account, walletId: ids["wallets"]!, from_wallet_id: purse }

  /** Things that whoever has been told of them may name: a price is for everybody, a proof is for its holder. */
  const told = Effect.gen(function* () {
    const visitor = yield* buyer(1_000_000n)
    const quote = yield* send(path)
    const paid = yield* pay(visitor.key, { url: endpoint.gatewayUrl, from_wallet_id: visitor.purse })
    const { payment_request_id }: Names = quote.json
    const { proof }: Names = paid.json
    return { payment_request_id: payment_request_id!, url: endpoint.gatewayUrl, proof: proof! }
  })

  const idOf = ({ id, params }: Operation): string => {
    const [group = ""] = id.split(".")
    const one = ids[group]
    if (params.length > 0 && one === undefined) {
      assert.fail(`${id} has an id in its path: give World.ts one of "${group}" to try it with`)
    }
    return one ?? ""
  }

  /** The body that the description shows, about this tenant's own things. */
  const bodyOf = Effect.fnUntraced(function* ({ body, id }: Operation) {
    if (body === undefined) return undefined
    if (body.example === undefined) assert.fail(`${id} shows no example of its body`)
    const names: Names = { ...own, ...(yield* told) }
    return Object.fromEntries(
      Object.entries<unknown>(body.example).map(([name, value]) => [name, names[name] ?? value])
    )
  })

  const call = Effect.fnUntraced(function* (operation: Operation, given: Request = {}) {
    const body = "body" in given ? given.body : yield* bodyOf(operation)
    const target = operation.path.replace("{id}", () => given.id ?? idOf(operation))
    return yield* send(given.query === undefined ? target : `${target}?${given.query}`, {
      method: operation.method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...given.headers
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
  })

  return { key, spare: spare.key, ids, own, told, idOf, bodyOf, call, path, principal }
})
export type World = Effect.Success<typeof world>
