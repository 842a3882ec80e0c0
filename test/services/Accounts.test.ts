import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { AccountId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Accounts } from "#services/Accounts.ts"
import { Deployment } from "#services/Deployment.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Tenants } from "#services/Tenants.ts"

const deployment = (environment: "sandbox" | "live") =>
  Layer.succeed(Deployment, { environment, publicUrl: "http://localhost:4020", scannerUrl: "http://localhost:4020" })

const Test = Layer.mergeAll(Accounts.layer, Tenants.layer).pipe(
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, deployment("sandbox")))
)

const tenant = (name = "Acme") => Effect.flatMap(Tenants, (tenants) => tenants.create({ name }))

layer(Test, { timeout: "60 seconds" })("Accounts", (it) => {
  it.effect("an account comes back as it was made", () =>
    Effect.gen(function* () {
      const { create, get } = yield* Accounts
      const { id: tenant_id } = yield* tenant()
      const metadata = { crm: { id: 7, tags: ["a", "'; DROP TABLE accounts; --"] }, "\\u0000": null }
      const made = yield* create(tenant_id, {
        name: "Ключ",
        type: "person",
        email: "a@b.example",
        country: "DE",
        metadata
      })
      assert.deepInclude(made, { tenant_id, environment: "sandbox", type: "person", name: "Ключ", country: "DE" })
      assert.deepStrictEqual(made.metadata, metadata)
      assert.deepStrictEqual(yield* get(tenant_id, made.id), made)
    })
  )

  it.effect("what is left out is empty, and a business", () =>
    Effect.gen(function* () {
      const { create } = yield* Accounts
      const made = yield* create((yield* tenant()).id, { name: "a" })
      assert.deepInclude(made, { type: "business", email: null, country: null })
      assert.deepStrictEqual(made.metadata, {})
      assert.deepStrictEqual(made.created_at, made.updated_at)
    })
  )

  it.effect("another tenant's account is not found, exactly as one that never was", () =>
    Effect.gen(function* () {
      const { create, get } = yield* Accounts
      const [mine, theirs] = [yield* tenant(), yield* tenant()]
      const { id } = yield* create(mine.id, { name: "a" })
      const random = AccountId.to.make(newUuid())
      const foreign = yield* Effect.flip(get(theirs.id, id))
      const absent = yield* Effect.flip(get(theirs.id, random))
      assert.deepStrictEqual({ ...foreign, id: "" }, { ...absent, id: "" })
      assert.strictEqual(foreign._tag, "NOT_FOUND")
    })
  )

  it.effect("a list holds a tenant's own accounts, newest first, page by page", () =>
    Effect.gen(function* () {
      const { create, list } = yield* Accounts
      const { account_id, id } = yield* tenant()
      yield* create((yield* tenant("Other")).id, { name: "foreign" })
      for (const name of ["1", "2", "3"]) yield* create(id, { name })
      const [first, second] = [yield* list(id, { page: 1, limit: 3 }), yield* list(id, { page: 2, limit: 3 })]
      assert.deepStrictEqual(
        first.data.map((one) => one.name),
        ["3", "2", "1"]
      )
      assert.deepStrictEqual(
        second.data.map((one) => one.id),
        [account_id]
      )
      assert.deepStrictEqual([first.total, second.total], [4, 4])
    })
  )

  it.effect("a tenant has an account of its own and an empty purse of credits", () =>
    Effect.gen(function* () {
      const made = yield* tenant("Bakery")
      const account = yield* (yield* Accounts).get(made.id, made.account_id)
      assert.deepInclude(account, { name: "Bakery", type: "business" })
      const purse = yield* (yield* Ledger).account(made.id)
      assert.deepInclude(purse, { currency: "CREDIT", posted: 0n, may_overdraw: false })
      assert.deepStrictEqual(yield* (yield* Tenants).get(made.id), made)
    })
  )
})
