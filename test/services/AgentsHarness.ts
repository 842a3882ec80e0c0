import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createPrivateKey, sign as signBytes } from "node:crypto"
import type { AgentOrder, AuthKey, Challenge } from "#domain/Agent.ts"
import { type AgentId, toTypeId } from "#domain/Ids.ts"
import { Principal } from "#domain/Principal.ts"
import * as BusPostgres from "#layers/BusPostgres.ts"
import { Agents } from "#services/Agents.ts"
import { AgentSessions } from "#services/AgentSessions.ts"
import { Credentials } from "#services/Credentials.ts"
import { promises } from "#services/Doctor/Agents.ts"
import { EventLog } from "#services/EventLog.ts"
import { Secrets } from "#services/Secrets.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { SqlClient } from "effect/sql"
import { Test } from "./CredentialsHarness.ts"

const stack = AgentSessions.layer.pipe(Layer.provideMerge(Agents.layer))

/** Agents over a database of their own. */
export const platform = stack.pipe(
  Layer.provideMerge(Layer.mergeAll(Wallets.layer, EventLog.layer, Secrets.layer)),
  Layer.provideMerge(Test)
)

/** A second process on the same database, which shares nothing but that with the first. */
export const another = Effect.map(
  Layer.build(
    Layer.fresh(stack).pipe(
      Layer.provideMerge(Layer.fresh(Credentials.layer)),
      Layer.provide(Layer.fresh(Layer.mergeAll(Wallets.layer, Secrets.layer))),
      Layer.provide(Layer.fresh(BusPostgres.layer))
    )
  ),
  (context) => ({
    agents: Context.get(context, Agents),
    sessions: Context.get(context, AgentSessions),
    credentials: Context.get(context, Credentials)
  })
)

/** A new tenant, as its API key sees it. */
export const tenant = Effect.gen(function* () {
  const { account_id, id } = yield* (yield* Tenants).create({ name: "Acme" })
  const who = { actor_type: "api_key", actor_id: "key", scopes: ["*:*"] } as const
  return new Principal({ tenant_id: id, environment: "sandbox", account_id, ...who })
})

export const order = (given: Partial<AgentOrder> = {}): AgentOrder => ({
  account_id: undefined,
  name: "Buyer",
  description: null,
  skills: [],
  metadata: {},
  key: "generated",
  network: undefined,
  address: undefined,
  ...given
})

export const seedOf = ({ privateKey }: AuthKey): string => privateKey ?? assert.fail("the key was not made here")

/** What the holder of a seed signs. */
export const signed = (seed: string, text: string): string => {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(seed, "base64")])
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })
  return signBytes(null, Buffer.from(text), key).toString("base64")
}

/** An agent with a key, and what it does with it. */
export const agent = Effect.fnUntraced(function* (caller: Principal, given: Partial<AgentOrder> = {}) {
  const { authKey, credentials, data } = yield* (yield* Agents).create(caller, order(given))
  const key = authKey ?? assert.fail("there is no key")
  return { caller, id: data.id, data, token: credentials.token, key, seed: seedOf(key) }
})

export const proofOf = (id: AgentId, seed: string) => signed(seed, `rotate:${toTypeId("agt", id)}`)

/** A challenge for this agent and the answer of whoever has this seed. */
export const answer = Effect.fnUntraced(function* (id: AgentId, seed: string) {
  const { challenge }: Challenge = yield* (yield* AgentSessions).challenge(id)
  return { challenge, signature: signed(seed, challenge) }
})

export const open = Effect.fnUntraced(function* ({ id, seed }: { readonly id: AgentId; readonly seed: string }) {
  return yield* (yield* AgentSessions).authenticate(id, yield* answer(id, seed))
})

/** What the doctor finds broken. */
export const broken = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    Effect.forEach(promises(sql), ({ promise, query }) =>
      Effect.map(query, (rows) => (rows.length > 0 ? [promise] : []))
    ),
    (found) => found.flat()
  )
)

export const isSound = Effect.map(broken, (found) => assert.deepStrictEqual(found, []))
