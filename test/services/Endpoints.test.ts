import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { EndpointId } from "#domain/Ids.ts"
import * as Test from "#layers/Test.ts"
import { Endpoints } from "#services/Endpoints.ts"
import * as Directory from "#services/Endpoints/Directory.ts"
import { EventLog } from "#services/EventLog.ts"
import { newId } from "#services/NewId.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "../http/GatewayHarness.ts"
import { slowBus } from "./CredentialsHarness.ts"

const weather: NewEndpoint = { name: "Weather", path: "/a", method: "GET" }

const seller = Effect.gen(function* () {
  const { principal } = yield* tenant
  const wallet = yield* (yield* Wallets).create(principal, {})
  return { principal, wallet, endpoints: yield* Endpoints }
})

layer(Test.layer, { timeout: "60 seconds" })("an endpoint", (it) => {
  it.effect("that names nothing but itself has every default", () =>
    Effect.gen(function* () {
      const { endpoints, principal, wallet } = yield* seller
      const { createdAt, id, updatedAt, ...rest } = yield* endpoints.create(principal, weather)
      assert.deepStrictEqual(createdAt, updatedAt)
      assert.deepStrictEqual(rest, {
        tenantId: principal.tenant_id,
        accountId: principal.account_id,
        walletId: wallet.id,
        name: "Weather",
        description: null,
        path: "/a",
        method: "GET",
        basePrice: 10_000n,
        currency: "USDC",
        network: "solana-devnet",
        status: "active",
        assetAddress: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
        paymentAddress: wallet.address,
        volumeDiscounts: [],
        totalCalls: 0n,
        totalRevenue: 0n,
        webhookUrl: null,
        originUrl: null,
        timeoutMs: 30_000,
        rateLimit: null,
        chargeOn: "success",
        schemes: ["exact"],
        mpp: true,
        forwardHeaders: {},
        gatewayUrl: `http://turnpike.test/x402/${id}`
      })
    })
  )

  it.effect("that is changed tells so though its caller hangs up", () =>
    Effect.gen(function* () {
      const { endpoints, principal } = yield* seller
      const { id } = yield* endpoints.create(principal, weather)
      const { hangUp, layer: bus } = yield* slowBus
      const built = yield* Layer.build(Layer.fresh(Endpoints.layer.pipe(Layer.provide(bus))))
      const { update } = yield* Effect.provideContext(Endpoints, built)
      assert.include(yield* hangUp(update(principal, id, { status: "paused" })), id)
    })
  )

  it.effect("needs somewhere for the money to go", () =>
    Effect.gen(function* () {
      const { principal } = yield* tenant
      const { endpoints, wallet } = yield* seller
      const codeOf = (wanted: Partial<NewEndpoint>) =>
        Effect.map(Effect.flip(endpoints.create(principal, { ...weather, ...wanted })), ({ _tag }) => _tag)
      assert.strictEqual(yield* codeOf({}), "NO_RECEIVING_WALLET")
      assert.strictEqual(yield* codeOf({ network: "base-mainnet" }), "NETWORK_NOT_AVAILABLE")
      assert.strictEqual(yield* codeOf({ walletId: wallet.id }), "NOT_FOUND", "another tenant's wallet")
      const own = yield* (yield* Wallets).create(principal, { network: "base-sepolia" })
      assert.strictEqual(yield* codeOf({ walletId: own.id, currency: "EURC" }), "CURRENCY_MISMATCH")
      const elsewhere = endpoints.create(principal, { ...weather, walletId: own.id, network: "solana-devnet" })
      assert.deepInclude(yield* Effect.flip(elsewhere), {
        _tag: "NETWORK_MISMATCH",
        from: "solana-devnet",
        to: "base-sepolia"
      })
      const made = yield* endpoints.create(principal, { ...weather, walletId: own.id })
      assert.deepStrictEqual([made.network, made.paymentAddress], ["base-sepolia", own.address])
    })
  )

  it.effect("belongs to its tenant: to others it does not exist", () =>
    Effect.gen(function* () {
      const { endpoints, principal } = yield* seller
      const other = (yield* tenant).principal
      const { id } = yield* endpoints.create(principal, weather)
      const refusals = [
        yield* Effect.flip(endpoints.get(other, id)),
        yield* Effect.flip(endpoints.update(other, id, { name: "Mine" })),
        yield* Effect.flip(endpoints.disable(other, id)),
        yield* Effect.flip(endpoints.create(other, { ...weather, accountId: principal.account_id }))
      ]
      assert.deepStrictEqual(new Set(refusals.map(({ _tag }) => _tag)), new Set(["NOT_FOUND"]))
      assert.deepStrictEqual(yield* endpoints.list(other, { limit: 10, offset: 0 }), { endpoints: [], total: 0 })
      assert.strictEqual((yield* endpoints.get(principal, id)).name, "Weather")
    })
  )

  it.effect("changes what is named, keeps the rest, and says so once in the event log", () =>
    Effect.gen(function* () {
      const { endpoints, principal } = yield* seller
      const { id } = yield* endpoints.create(principal, {
        ...weather,
        description: "d",
        originUrl: "https://origin.example/base/",
        forwardHeaders: { "x-key": "secret" }
      })
      const log = yield* EventLog
      const before = (yield* log.after(0n, 1000)).length
      yield* TestClock.adjust("1 second")
      const changed = yield* endpoints.update(principal, id, { basePrice: 20_000n, description: null })
      assert.deepStrictEqual(
        [changed.basePrice, changed.description, changed.originUrl, changed.name],
        [20_000n, null, "https://origin.example/base", "Weather"]
      )
      assert.deepStrictEqual(yield* endpoints.get(principal, id), changed)
      const facts = (yield* log.after(0n, 1000)).slice(before)
      assert.deepStrictEqual(
        facts.map(({ type }) => type),
        ["x402.endpoint.updated"]
      )
      const record = facts[0]?.data["endpoint"] as Record<string, unknown>
      assert.deepStrictEqual([record["id"], record["basePrice"], record["forwardHeaders"]], [id, 0.02, {}])
      yield* TestClock.adjust("1 second")
      const same = { basePrice: 20_000n, description: null, forwardHeaders: { "x-key": "secret" } }
      assert.deepStrictEqual(yield* endpoints.update(principal, id, same), changed)
      assert.strictEqual((yield* log.after(0n, 1000)).length, before + 1)
    })
  )

  it.effect("its status changes as the table says, and a refused change leaves no trace", () =>
    Effect.gen(function* () {
      const { endpoints, principal } = yield* seller
      const { id } = yield* endpoints.create(principal, weather)
      const to = (status: "active" | "paused" | "disabled") => endpoints.update(principal, id, { status })
      yield* to("paused")
      yield* to("active")
      yield* endpoints.disable(principal, id)
      yield* endpoints.disable(principal, id)
      const log = yield* EventLog
      const before = (yield* log.after(0n, 1000)).length
      const refused = yield* Effect.flip(to("paused"))
      assert.strictEqual(refused._tag, "STATE_TRANSITION_INVALID")
      assert.strictEqual((yield* log.after(0n, 1000)).length, before)
      assert.strictEqual((yield* to("active")).status, "active")
    })
  )

  it.effect("is only put in front of an address that may be called", () =>
    Effect.gen(function* () {
      const { endpoints, principal } = yield* seller
      const { id } = yield* endpoints.create(principal, weather)
      for (const originUrl of [
        "http://10.0.0.1",
        "http://169.254.169.254/latest",
        "ftp://a.example",
        "http://u:p@a.example",
        "x"
      ]) {
        for (const field of ["originUrl", "webhookUrl"] as const) {
          const refused = yield* Effect.flip(endpoints.update(principal, id, { [field]: originUrl }))
          assert.deepInclude(refused, { _tag: "ORIGIN_NOT_ALLOWED", field })
        }
      }
      const query = yield* Effect.flip(endpoints.update(principal, id, { originUrl: "https://a.example/?q=1" }))
      assert.strictEqual(query._tag, "INVALID_REQUEST")
    })
  )

  it.effect("the gateway sees a change at once", () =>
    Effect.gen(function* () {
      const { endpoints, principal } = yield* seller
      const { id } = yield* endpoints.create(principal, weather)
      const price = Effect.map(endpoints.directory.load(id), (snapshot) => snapshot?.price.base)
      assert.strictEqual(yield* price, 10_000n)
      yield* endpoints.update(principal, id, { basePrice: 30_000n })
      assert.strictEqual(yield* price, 30_000n)
    })
  )

  it.effect("is served as soon as the transaction that makes it commits, whoever asked for it before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { endpoints, principal } = yield* seller
      const id = yield* newId(EndpointId)
      const written = yield* Deferred.make<void>()
      const early = yield* Effect.forkChild(Effect.andThen(Deferred.await(written), endpoints.directory.load(id)))
      yield* endpoints.create(principal, weather, { id, path: `/${id}` }).pipe(
        Effect.andThen(Deferred.succeed(written, undefined)),
        Effect.andThen(Fiber.join(early)),
        Effect.tap((snapshot) => Effect.sync(() => assert.isNull(snapshot))),
        sql.withTransaction
      )
      assert.strictEqual((yield* endpoints.directory.load(id))?.endpoint.id, id)
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a directory", (it) => {
  const make = Effect.gen(function* () {
    const asked: Array<ReadonlyArray<string>> = []
    let answer: Effect.Effect<ReadonlyMap<string, number>> = Effect.succeed(new Map([["a", 1]]))
    const directory = yield* Directory.make((ids) => {
      asked.push(ids)
      return answer
    })
    return {
      asked,
      directory,
      answers: (next: Effect.Effect<ReadonlyMap<string, number>>) => {
        answer = next
      }
    }
  })
  const settled = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true })

  it.effect("asks once for calls that come together, and not again while the answer is fresh", () =>
    Effect.gen(function* () {
      const { asked, directory } = yield* make
      assert.isUndefined(directory.peek("a"))
      const loads = Array.from({ length: 50 }, () => directory.load("a"))
      assert.deepStrictEqual(new Set(yield* Effect.all(loads, { concurrency: 50 })), new Set([1]))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(directory.peek("a"), 1)
      assert.deepStrictEqual(asked, [["a"]])
    })
  )

  it.effect("gives an old answer while it asks again, and while nobody answers", () =>
    Effect.gen(function* () {
      const { answers, asked, directory } = yield* make
      yield* directory.load("a")
      answers(Effect.die("no database"))
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(directory.peek("a"), 1)
      yield* settled
      assert.strictEqual(asked.length, 2)
      assert.strictEqual(directory.peek("a"), 1)
      answers(Effect.succeed(new Map([["a", 2]])))
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual(directory.peek("a"), 1)
      yield* settled
      assert.strictEqual(directory.peek("a"), 2)
    })
  )

  it.effect("remembers for three seconds that there is no such thing", () =>
    Effect.gen(function* () {
      const { asked, directory } = yield* make
      assert.isNull(yield* directory.load("b"))
      assert.isNull(yield* directory.load("b"))
      assert.strictEqual(asked.length, 1)
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(directory.peek("b"))
    })
  )

  it.effect("does not remember what was read before a change was announced", () =>
    Effect.gen(function* () {
      const { answers, directory } = yield* make
      answers(
        Effect.sync(() => {
          directory.forget("a")
          return new Map([["a", 1]])
        })
      )
      assert.strictEqual(yield* directory.load("a"), 1)
      assert.isUndefined(directory.peek("a"))
    })
  )

  it.effect("tells who asks after a change was announced no answer of before it", () =>
    Effect.gen(function* () {
      const { answers, directory } = yield* make
      const gate = yield* Deferred.make<void>()
      answers(Effect.as(Deferred.await(gate), new Map([["a", 1]])))
      const before = yield* Effect.forkChild(directory.load("a"))
      yield* settled
      directory.forget("a")
      answers(Effect.succeed(new Map([["a", 2]])))
      const after = yield* Effect.forkChild(directory.load("a"))
      yield* settled
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual([yield* Fiber.join(before), yield* Fiber.join(after)], [1, 2])
    })
  )
})
