import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Doctor } from "#services/Doctor.ts"
import { newUuid } from "#services/NewId.ts"
import { toTypeId } from "#domain/Ids.ts"
import { newcomer, options, serverOf } from "./WalletsServer.ts"

import { payer, server } from "./CrossBorderServer.ts"
type Party = Effect.Success<ReturnType<typeof payer>>

layer(server, options)("a cross_border transfer over HTTP is refused and moves nothing", (it) => {
  const cases: Record<
    string,
    readonly [
      status: number,
      code: string,
      body: (
        party: Party,
        quote: { readonly id: string }
      ) => Effect.Effect<object, never, Effect.Services<ReturnType<typeof payer>> | SqlClient.SqlClient>
    ]
  > = {
    "without a quote": [
      400,
      "INVALID_REQUEST",
      ({ from, to }) => Effect.succeed({ type: "cross_border", from_wallet_id: from, to_wallet_id: to })
    ],
    "with a quote of nobody's": [404, "NOT_FOUND", ({ order }) => Effect.succeed(order(toTypeId("qt", newUuid())))],
    "with another tenant's quote": [
      404,
      "NOT_FOUND",
      ({ order }) =>
        Effect.map(
          Effect.flatMap(payer(), (stranger) => stranger.quote()),
          ({ id }) => order(id)
        )
    ],
    "with a quote that was used": [
      422,
      "QUOTE_ALREADY_USED",
      ({ create, order }, { id }) => Effect.as(create(order(id)), order(id))
    ],
    "with a quote that has ended": [
      422,
      "QUOTE_EXPIRED",
      ({ order }, { id }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* Effect.orDie(
            sql`UPDATE quotes SET created_at = created_at - interval '31 s', expires_at = expires_at - interval '31 s'`
          )
          return order(id)
        })
    ],
    "with swapped wallets": [
      422,
      "CURRENCY_MISMATCH",
      ({ from, order, to }, { id }) => Effect.succeed(order(id, { from_wallet_id: to, to_wallet_id: from }))
    ],
    "to the paying wallet": [
      422,
      "SAME_WALLET",
      ({ from, order }, { id }) => Effect.succeed(order(id, { to_wallet_id: from }))
    ],
    "with another amount than the quote's": [
      422,
      "QUOTE_MISMATCH",
      ({ order }, { id }) => Effect.succeed(order(id, { amount: "100.000001" }))
    ],
    "with another currency than the quote's": [
      422,
      "QUOTE_MISMATCH",
      ({ order }, { id }) => Effect.succeed(order(id, { currency: "EURC" }))
    ],
    "with a field of another type": [
      400,
      "INVALID_REQUEST",
      ({ order }, { id }) => Effect.succeed(order(id, { flow_rate: "1" }))
    ],
    "from a frozen wallet": [
      403,
      "WALLET_FROZEN",
      ({ call, from, order }, { id }) =>
        Effect.as(call("POST", `/v1/wallets/${from}/freeze`, { reason: "test" }), order(id))
    ],
    "to another tenant's wallet": [
      404,
      "NOT_FOUND",
      ({ order }, { id }) => Effect.map(payer(), ({ to }) => order(id, { to_wallet_id: to }))
    ],
    "from another tenant's wallet": [
      404,
      "NOT_FOUND",
      ({ order }, { id }) => Effect.map(payer(), ({ from }) => order(id, { from_wallet_id: from }))
    ]
  }
  for (const [name, [status, code, body]] of Object.entries(cases)) {
    it.effect(`${name}: ${status} ${code}`, () =>
      Effect.gen(function* () {
        const party = yield* payer()
        const wrong = yield* body(party, yield* party.quote())
        const before = (yield* party.call("GET", "/v1/transfers")).body.data.length
        const answer = yield* party.create(wrong)
        assert.deepInclude(answer.body, { status, code }, answer.text)
        assert.strictEqual((yield* party.call("GET", "/v1/transfers")).body.data.length, before)
      })
    )
  }

  it.effect("a quote that was refused so is still good", () =>
    Effect.gen(function* () {
      const { create, order, quote } = yield* payer()
      const { id } = yield* quote()
      yield* create(order(id, { amount: "1.00" }))
      assert.strictEqual((yield* create(order(id, { amount: "100.00", currency: "USDC" }))).status, 201)
    })
  )

  it.effect("and afterwards every promise about the books holds", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pending = sql`SELECT 1 FROM settlements WHERE concluded_at IS NULL AND due_at < now() + interval '30 s'`
      yield* Effect.repeat(pending, { until: (rows) => rows.length === 0, schedule: Schedule.spaced("50 millis") })
      const findings = yield* (yield* Doctor).examine
      assert.deepStrictEqual(
        findings.filter((finding) => finding.broken.length > 0),
        []
      )
    })
  )
})

layer(serverOf("live"), options)("a live server without a settlement rail", (it) => {
  it.effect("starts, and answers 422 CROSS_BORDER_UNAVAILABLE", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const answer = yield* call("POST", "/v1/transfers", {
        type: "cross_border",
        from_wallet_id: toTypeId("wal", newUuid()),
        to_wallet_id: toTypeId("wal", newUuid()),
        quote_id: toTypeId("qt", newUuid())
      })
      assert.deepInclude(answer.body, { status: 422, code: "CROSS_BORDER_UNAVAILABLE" })
    })
  )
})
