import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { IncomingMessage } from "node:http"
import { Socket } from "node:net"
import * as Suspects from "#http/Suspects.ts"
import { RateLimiter } from "#http/RateLimiter.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"

const from = (address: string) => {
  const socket = new Socket()
  Object.defineProperty(socket, "remoteAddress", { value: address })
  return new IncomingMessage(socket)
}

const limited = RateLimiter.layer.pipe(
  Layer.provide(Layer.succeed(HttpPolicy, { requestsPerMinute: 3, trustedProxies: [], metricsToken: undefined }))
)

it.effect("an address that waits does so no longer when the time is set back meanwhile", () =>
  Effect.gen(function* () {
    const payments = yield* Suspects.make("refused payments of")
    const attacker = from("192.0.2.1")
    for (let refused = 0; refused < 4; refused++) payments.count(attacker)
    assert.strictEqual(payments.refusal(attacker)?._tag, "RATE_LIMIT_EXCEEDED")
    yield* TestClock.setTime(-3_600_000)
    yield* TestClock.adjust("2 minutes")
    assert.isUndefined(payments.refusal(attacker))
  }).pipe(Effect.provide(limited))
)

it.effect("an address whose payments are refused all the time waits, alone and for a while", () =>
  Effect.gen(function* () {
    const payments = yield* Suspects.make("refused payments of")
    const [attacker, other] = [from("192.0.2.1"), from("192.0.2.2")]
    for (let refused = 0; refused < 3; refused++) {
      payments.count(attacker)
      assert.isUndefined(payments.refusal(attacker))
    }
    payments.count(attacker)
    assert.strictEqual(payments.refusal(attacker)?._tag, "RATE_LIMIT_EXCEEDED")
    assert.isUndefined(payments.refusal(other))
    yield* TestClock.adjust("2 minutes")
    assert.isUndefined(payments.refusal(attacker))
  }).pipe(Effect.provide(limited))
)

it.effect("a refusal is made anew: one that was remembered would keep the request that it was made for", () =>
  Effect.gen(function* () {
    const payments = yield* Suspects.make("refused payments of")
    const attacker = from("192.0.2.1")
    for (let refused = 0; refused < 4; refused++) payments.count(attacker)
    const [first, second] = [payments.refusal(attacker), payments.refusal(attacker)]
    assert.strictEqual(first?._tag, "RATE_LIMIT_EXCEEDED")
    assert.notStrictEqual(first, second)
  }).pipe(Effect.provide(limited))
)
