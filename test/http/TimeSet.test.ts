import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { Doctor } from "#services/Doctor.ts"
import { buyer, paidCall, seller, send, server } from "./GatewayHarness.ts"

const real = Clock.Clock.defaultValue()
const hour = 3_600_000

/** A clock whose time goes on as the real one, and is set back by an hour each time that it is told to. */
let back = 0
const now = () => real.currentTimeMillisUnsafe() - back
const set: Clock.Clock = Object.assign(Object.create(real), {
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now)
})
const setBack = () => {
  back += hour
}

/** How long all requests of this route took, in seconds. */
const took = Effect.fnUntraced(function* (route: string) {
  const { body } = yield* send("/metrics")
  const sums = body
    .split("\n")
    .filter((line) => /_request_duration_seconds_sum/.test(line) && line.includes(`"${route}"`))
  assert.isNotEmpty(sums, route)
  return sums.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
})

const clocked = server.pipe(Layer.provide(Layer.succeed(Clock.Clock, set)))

layer(clocked, { timeout: "60 seconds", excludeTestServices: true })("when the time is set back", (it) => {
  it.effect("a call that was under way lasted as long as it did", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => {
        setBack()
        response.end("24 degrees")
      })
      assert.strictEqual((yield* paidCall(yield* buyer(1_000_000n), shop.path)).status, 200)
      const headers = { authorization: `Bearer ${shop.key}` }
      const { json } = yield* send(`/v1/x402/endpoints/${shop.endpoint.id}/payments`, { headers })
      assert.isAtLeast(json.data[0].origin_ms, 0)
      assert.isAtLeast(yield* took("/x402/*"), 0)
    })
  )

  it.effect("so did an operation", () =>
    Effect.gen(function* () {
      const shop = yield* seller((_, response) => {
        setBack()
        response.end("24 degrees")
      })
      const path = `/v1/x402/endpoints/${shop.endpoint.id}/test`
      const { status } = yield* send(path, { method: "POST", headers: { authorization: `Bearer ${shop.key}` } })
      assert.isBelow(status, 300)
      assert.isAtLeast(shop.backend.seen.length, 1)
      assert.isAtLeast(yield* took("/v1/x402/endpoints/:id/test"), 0)
    })
  )

  it.effect("so did what proves the books", () =>
    Effect.gen(function* () {
      const { examine } = yield* Doctor
      const always = Object.assign(Object.create(real), {
        currentTimeMillis: Effect.sync(() => {
          setBack()
          return now()
        })
      })
      const findings = yield* Effect.provideService(examine, Clock.Clock, always)
      assert.isNotEmpty(findings)
      for (const { millis, promise } of findings) assert.isAtLeast(millis, 0, promise)
    })
  )
})
