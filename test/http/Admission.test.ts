import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import * as Admission from "#http/Admission.ts"
import { RateLimiter } from "#http/RateLimiter.ts"
import { Principal } from "#domain/Principal.ts"
import { BoughtCalls } from "#services/BoughtCalls.ts"
import { Credentials } from "#services/Credentials.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"
import { tag, tenant } from "../services/CredentialsHarness.ts"
import { loggedIn, Test } from "../services/UsersHarness.ts"

const perMinute = 3
const Limited = Layer.mergeAll(RateLimiter.layer, BoughtCalls.layer, Test).pipe(
  Layer.provide(
    Layer.succeed(HttpPolicy, { requestsPerMinute: perMinute, trustedProxies: [], metricsToken: undefined })
  )
)

/** What becomes of a request with this token from this address. */
const entrance = Effect.map(Admission.make, (admit) => (address: string, token: string) => {
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: address })
  const request = new IncomingMessage(socket)
  request.headers.authorization = `Bearer ${token}`
  return tag(admit(request, Context.empty(), undefined))
})
const madeUp = `pk_test_${"0".repeat(32)}`

layer(Limited, { timeout: "60 seconds" })("admission", (it) => {
  it.effect("holds what others tried from an address against nobody a minute later", () =>
    Effect.gen(function* () {
      const asked = yield* entrance
      const { issue } = yield* Credentials
      const { id } = yield* tenant()
      const keys: Array<string> = []
      for (let key = 0; key < 2 * perMinute; key++) {
        keys.push((yield* issue({ tenant_id: id, kind: "api_key", name: "k", scopes: ["*:*"] })).key)
      }
      yield* Effect.replicateEffect(asked("192.0.2.1", madeUp), perMinute)
      assert.strictEqual(yield* asked("192.0.2.1", madeUp), "RATE_LIMIT_EXCEEDED")
      yield* TestClock.adjust("2 minutes")
      const answers = yield* Effect.forEach(keys, (key) => asked("192.0.2.1", key))
      assert.deepStrictEqual(new Set(answers), new Set(["accepted"]))
    })
  )

  it.effect(
    "lets in from an address that tried too much whom it knows without looking: a user, and a call that is paid for",
    () =>
      Effect.gen(function* () {
        const asked = yield* entrance
        const bought = yield* BoughtCalls
        const { by, token } = yield* loggedIn()
        bought.admit(new Principal({ ...by, actor_type: "system" }))
        yield* Effect.replicateEffect(asked("192.0.2.3", madeUp), perMinute)
        assert.strictEqual(yield* asked("192.0.2.3", madeUp), "RATE_LIMIT_EXCEEDED")
        for (const known of [token, Redacted.value(bought.credential)]) {
          assert.strictEqual(yield* asked("192.0.2.3", known), "accepted")
        }
      })
  )

  it.effect("limits no calls that are paid for one by one", () =>
    Effect.gen(function* () {
      const asked = yield* entrance
      const bought = yield* BoughtCalls
      const { by } = yield* tenant()
      bought.admit(new Principal({ ...by, actor_type: "system", scopes: ["scanner:*"] }))
      const call = asked("192.0.2.2", Redacted.value(bought.credential))
      const answers = yield* Effect.replicateEffect(call, 2 * perMinute)
      assert.notInclude(answers, "RATE_LIMIT_EXCEEDED")
    })
  )
})
