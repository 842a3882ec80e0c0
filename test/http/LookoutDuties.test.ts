import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { later } from "#domain/Instant.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { type Duty, Lookout } from "#services/Lookout.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Payments } from "#services/Payments.ts"
import { Statistics } from "#services/Statistics.ts"
import { buyer, pay, seller, send, server, wallet } from "./GatewayHarness.ts"

const workers = Layer.mergeAll(
  AgentChannel.layerWorker,
  Ledger.layerWorker,
  MoneyStreams.layerWorker,
  Payments.layerWorker,
  Statistics.layerWorker
)

/** What the workers would be asked, and what they would do then: nobody does it here by himself. */
const duties = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const kept = new Map<string, Duty>()
  const keep = (duty: Duty) => Effect.sync(() => void kept.set(duty.failed, duty))
  yield* Layer.build(Layer.provide(workers, Layer.succeed(Lookout, Lookout.of({ keep }))))
  const duty = (failed: string) =>
    kept.get(failed) ?? assert.fail(`nobody has the duty of which the log says ${failed}`)
  const answer = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ due: Schema.NullOr(Schema.Boolean) })]))
  /** Whether it is due that long from now. */
  const isDue = Effect.fnUntraced(function* (failed: string, millis = 0) {
    const at = later(yield* DateTime.nowAsDate, millis)
    const [{ due }] = yield* Effect.flatMap(sql`SELECT ${duty(failed).isDue(at)} AS due`, answer)
    return due === true
  })
  return { isDue, step: (failed: string) => duty(failed).step }
})

const hour = 3_600_000

layer(server, { timeout: "60 seconds", excludeTestServices: true })("what the workers wait for", (it) => {
  it.effect("is the end of a hold, and of what was paid and not used", () =>
    Effect.gen(function* () {
      const { isDue } = yield* duties
      const questions = ["Expiring holds failed", "Due payments could not be resolved"]
      const due = (millis: number) => Effect.forEach(questions, (failed) => isDue(failed, millis))
      assert.deepStrictEqual(yield* due(hour), [false, false])
      const shop = yield* seller((_, response) => response.end("served"))
      const agent = yield* buyer(1_000_000n)
      const { payment_request_id } = (yield* send(shop.path)).json
      yield* pay(agent.key, { payment_request_id, from_wallet_id: agent.purse })
      assert.deepStrictEqual(yield* due(0), [false, false])
      assert.deepStrictEqual(yield* due(hour), [true, true])
    })
  )

  it.effect("is a call whose process died", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { isDue, step } = yield* duties
      const failed = "Due payments could not be resolved"
      const shop = yield* seller((_, response) => response.end("served"))
      const agent = yield* buyer(1_000_000n)
      const { payment_request_id } = (yield* send(shop.path)).json
      yield* pay(agent.key, { payment_request_id, from_wallet_id: agent.purse })
      const [past, future] = [later(yield* DateTime.nowAsDate, -1), later(yield* DateTime.nowAsDate, hour)]
      yield* sql`UPDATE payments SET state = 'in_flight', attempt = 1, lease_until = ${past}, proof_expires_at = ${future}
        WHERE payer_id = ${agent.purse}`
      assert.isTrue(yield* isDue(failed))
      yield* step(failed)
      assert.isFalse(yield* isDue(failed))
    })
  )

  it.effect("is what is to be said of a stream", () =>
    Effect.gen(function* () {
      const { isDue } = yield* duties
      const { principal, purse } = yield* buyer(10_000_000n)
      const failed = "Streams could not be looked after"
      assert.isFalse(yield* isDue(failed, 24 * hour))
      // A thousandth a second out of 2.00.
      const flow = { flow_rate: 10n ** 15n, initial_deposit: 2_000_000n }
      yield* (yield* MoneyStreams).open(principal, {
        from_wallet_id: purse,
        to_wallet_id: yield* wallet(principal),
        ...flow
      })
      assert.isFalse(yield* isDue(failed))
      assert.isTrue(yield* isDue(failed, 24 * hour))
    })
  )

  it.effect("is a log that has grown", () =>
    Effect.gen(function* () {
      const { isDue, step } = yield* duties
      const { principal } = yield* buyer(0n)
      const fact = { tenant_id: principal.tenant_id, type: "transfer.created", data: {} } as const
      for (const failed of ["Statistics could not be counted", "Noting what concerns agents failed"]) {
        yield* (yield* EventLog).append([fact])
        assert.isTrue(yield* isDue(failed))
        yield* step(failed)
        assert.isFalse(yield* isDue(failed))
      }
    })
  )
})
