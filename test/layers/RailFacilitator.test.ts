import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Effect, Exit, Fiber, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Outcome } from "#domain/ChainSettlement.ts"
import * as RailFacilitator from "#layers/RailFacilitator.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { setClock } from "../services/SetClock.ts"
import { facilitator, settlement, skipping } from "./RailFacilitatorHarness.ts"

const transaction = `0x${"ab".repeat(32)}`
const settled = { success: true, transaction, network: "eip155:84532", payer: authorization().payer }
const pending: Outcome = { _tag: "Pending", transaction }
const unknown: Outcome = { _tag: "Pending", transaction: undefined }

describe("a facilitator by its URL", () => {
  it.effect("is asked with what x402 says, and its word is taken", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* facilitator([{ body: settled }])
      const wanted = settlement()
      assert.deepStrictEqual(yield* rail.settle(wanted), { _tag: "Settled", transaction })
      assert.strictEqual(questions.length, 1)
      const [question] = questions
      assert.strictEqual(`${question?.method} ${question?.path}`, "POST /x402/settle")
      assert.strictEqual(question?.headers.authorization, "Bearer of-nobody")
      assert.deepStrictEqual(question?.body, {
        x402Version: 2,
        paymentPayload: wanted.authorization.payload,
        paymentRequirements: wanted.authorization.requirements
      })
    })
  )

  it.effect("is told who asks as a file of secrets has it", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_FACILITATOR_URL: "https://a.example", TURNPIKE_FACILITATOR_AUTHORIZATION: "Bearer mine\n" }
      const { authorization } = yield* RailFacilitator.config.parse(ConfigProvider.fromUnknown(env))
      assert.strictEqual(Option.getOrThrow(Option.map(authorization, Redacted.value)), "Bearer mine")
    })
  )

  it.effect("is told how much to take under upto", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* facilitator([{ body: { ...settled, amount: "2500" } }])
      assert.strictEqual((yield* rail.settle(settlement({ amount: 2_500n })))._tag, "Settled")
      const body = questions[0]?.body as { paymentRequirements: { amount: string } }
      assert.strictEqual(body.paymentRequirements.amount, "2500")
    })
  )

  it.effect("that sent and does not know yet is asked once more", () =>
    Effect.gen(function* () {
      const waiting = { success: false, errorReason: "settlement_pending", transaction, network: "eip155:84532" }
      const later = yield* facilitator([{ body: waiting }, { body: settled }])
      assert.deepStrictEqual(yield* later.rail.settle(settlement()), { _tag: "Settled", transaction })
      const never = yield* facilitator([{ body: waiting }])
      assert.deepStrictEqual(yield* never.rail.settle(settlement()), pending)
      assert.strictEqual(never.questions.length, 2)
      const gone = yield* facilitator([{ body: waiting }, { status: 502, body: "cut" }])
      assert.deepStrictEqual(yield* gone.rail.settle(settlement()), pending)
      const used = yield* facilitator([
        { body: waiting },
        { body: { success: false, errorReason: "invalid_exact_evm_nonce_already_used", transaction: "" } }
      ])
      assert.deepStrictEqual(yield* used.rail.settle(settlement()), pending)
      const regretted = yield* facilitator([
        { body: waiting },
        { body: { success: false, errorReason: "insufficient_funds", transaction: "" } }
      ])
      assert.deepStrictEqual(yield* regretted.rail.settle(settlement()), pending)
    })
  )

  it.effect("that answers rubbish has said nothing about the money", () =>
    Effect.gen(function* () {
      const rubbish = [
        { body: "<html>502 Bad Gateway</html>", status: 502 },
        { body: "" },
        { body: "null" },
        { body: { success: "yes", transaction } },
        { body: { ...settled, transaction: "" } },
        { body: { ...settled, transaction: "0x1234" } },
        { body: { ...settled, network: "eip155:8453", success: false, errorReason: "insufficient_funds" } },
        { body: { ...settled, payer: "0x3333333333333333333333333333333333333333" } },
        { body: { success: false, errorReason: "insufficient_funds", transaction: "" }, status: 500 },
        { body: { success: false, errorReason: "something <b>new</b>", transaction: "" } },
        { body: { success: false } }
      ]
      for (const answer of rubbish) {
        const { rail } = yield* facilitator([answer])
        assert.deepStrictEqual(yield* rail.settle(settlement()), unknown, JSON.stringify(answer))
        assert.strictEqual((yield* Effect.flip(rail.verify(authorization())))._tag, "RAIL_UNAVAILABLE")
      }
    })
  )

  it.effect(
    "that cuts the connection, answers without end or cannot be reached is unavailable, and shows no address",
    () =>
      Effect.gen(function* () {
        for (const body of ["cut", "x".repeat(20_000)]) {
          const { rail } = yield* facilitator([{ body }])
          const error = yield* Effect.flip(rail.settle(settlement()))
          assert.strictEqual(error._tag, "RAIL_UNAVAILABLE")
          assert.notMatch(error.reason, /127\.0\.0\.1|http/)
        }
      })
  )

  it.effect("that never answers is given up, and left open is what it did", () =>
    Effect.gen(function* () {
      const { asked, rail } = yield* facilitator([{ body: "hang" }])
      const slow = yield* Effect.forkChild(Effect.flip(rail.settle(settlement())))
      yield* asked
      yield* TestClock.adjust("51 seconds")
      assert.strictEqual((yield* Fiber.join(slow))._tag, "RAIL_UNAVAILABLE")
    })
  )

  it.effect("that sent, and never answers when it is asked once more, has named its transaction all the same", () =>
    Effect.gen(function* () {
      const waiting = { success: false, errorReason: "settlement_pending", transaction, network: "eip155:84532" }
      const busy = { status: 429, headers: { "retry-after": "10" }, body: {} }
      const { rail, saw } = yield* facilitator([busy, { body: waiting }, { body: "hang" }])
      const slow = yield* Effect.forkChild(skipping("10 seconds")(rail.settle(settlement())))
      yield* saw(3)
      yield* TestClock.adjust("45 seconds")
      assert.deepStrictEqual(slow.pollUnsafe(), Exit.succeed(pending), "whoever settles waits for a minute")
    })
  )

  it.effect("that sent, and has too many callers from then on, is given up before whoever settles gives up", () =>
    Effect.gen(function* () {
      const waiting = { success: false, errorReason: "settlement_pending", transaction, network: "eip155:84532" }
      const busy = { status: 429, headers: { "retry-after": "10" }, body: {} }
      const { questions, rail } = yield* facilitator([busy, busy, busy, { body: waiting }, busy])
      assert.deepStrictEqual(yield* skipping("10 seconds")(rail.settle(settlement())), pending)
      assert.strictEqual(questions.length, 7)
    })
  )

  it.effect("that has too many callers is given the time it asks for", () =>
    Effect.gen(function* () {
      const busy = { status: 429, headers: { "retry-after": "7" }, body: {} }
      const kinds = { body: { kinds: [], extensions: [], signers: {} } }
      const patiently = skipping("7 seconds")
      const patient = yield* facilitator([busy, kinds])
      assert.deepStrictEqual(yield* patiently(patient.rail.kinds), [])
      assert.deepStrictEqual([patient.questions.length, yield* Clock.currentTimeMillis], [2, 7_000])

      const hopeless = yield* facilitator([busy])
      const refused = yield* patiently(Effect.flip(hopeless.rail.settle(settlement())))
      assert.strictEqual(refused._tag, "RAIL_UNAVAILABLE")
      assert.deepStrictEqual([hopeless.questions.length, yield* Clock.currentTimeMillis], [4, 28_000])
    })
  )

  it.effect("that asks for an hour is asked again after ten seconds", () =>
    Effect.gen(function* () {
      const busy = { status: 429, headers: { "retry-after": "3600" }, body: {} }
      const { rail } = yield* facilitator([busy, { body: settled }])
      assert.strictEqual((yield* skipping("10 seconds")(rail.settle(settlement())))._tag, "Settled")
    })
  )

  it.effect("that had asked for patience refuses nothing for certain: somebody on the way may have sent it", () =>
    Effect.gen(function* () {
      const busy = { status: 429, body: {} }
      const refusal = { body: { success: false, errorReason: "insufficient_funds", transaction: "" } }
      const { questions, rail } = yield* facilitator([busy, refusal])
      assert.deepStrictEqual(yield* skipping("1 second")(rail.settle(settlement())), unknown)
      assert.strictEqual(questions.length, 2)
      const moved = yield* facilitator([busy, { body: settled }])
      assert.deepStrictEqual(yield* skipping("1 second")(moved.rail.settle(settlement())), {
        _tag: "Settled",
        transaction
      })
    })
  )

  it.effect("is asked once in ten minutes what it supports; unknown kinds are left out", () =>
    Effect.gen(function* () {
      const kinds = [
        { x402Version: 2, scheme: "exact", network: "eip155:84532" },
        { x402Version: 1, scheme: "exact", network: "base-sepolia" },
        {
          x402Version: 2,
          scheme: "exact",
          network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
          extra: { feePayer: "F" }
        },
        { x402Version: 2, scheme: "upto", network: "eip155:84532", extra: { facilitatorAddress: "0x1" } },
        { x402Version: 2, scheme: "deferred", network: "eip155:84532" },
        { x402Version: 2, scheme: "exact", network: "aptos:1" },
        "rubbish"
      ]
      const { questions, rail } = yield* facilitator([{ body: "busy", status: 503 }, { body: { kinds } }])
      assert.strictEqual((yield* Effect.flip(rail.kinds))._tag, "RAIL_UNAVAILABLE")
      assert.deepStrictEqual(yield* rail.kinds, [
        { network: "base-sepolia", scheme: "exact", extra: {}, signers: [] },
        { network: "solana-devnet", scheme: "exact", extra: { feePayer: "F" }, signers: [] },
        { network: "base-sepolia", scheme: "upto", extra: { facilitatorAddress: "0x1" }, signers: [] }
      ])
      yield* rail.kinds
      assert.strictEqual(questions.length, 2)
      yield* TestClock.adjust("11 minutes")
      yield* rail.kinds
      assert.strictEqual(questions.length, 3)
    })
  )

  it.effect("that sent is asked once more, though the time is set meanwhile", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const first = { success: false, errorReason: "settlement_pending", transaction, network: "eip155:84532" }
      yield* Effect.gen(function* () {
        const { asked, rail } = yield* facilitator([{ body: first }, { body: settled }])
        const outcome = yield* Effect.forkChild(rail.settle(settlement()), { startImmediately: true })
        set.by = 3_600_000
        yield* asked
        assert.deepStrictEqual(yield* Fiber.join(outcome), { _tag: "Settled", transaction })
      }).pipe(Effect.provideService(Clock.Clock, clock))
    })
  )

  it.effect("is asked again in ten minutes, though the time is set back meanwhile", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      yield* Effect.gen(function* () {
        const { questions, rail } = yield* facilitator([{ body: { kinds: [] } }])
        yield* rail.kinds
        set.by = -3_600_000
        yield* TestClock.adjust("10 minutes")
        yield* rail.kinds
        assert.strictEqual(questions.length, 2)
      }).pipe(Effect.provideService(Clock.Clock, clock))
    })
  )

  it.effect("names all keys that settle a kind, of which it offers another one each time", () =>
    Effect.gen(function* () {
      const [first, second] = [
        "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4",
        "DpfFMMY9xESeZsWifjae8r8DLhUWvEHLcQxgNefHh5ov"
      ]
      const solana = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
      const kinds = [{ x402Version: 2, scheme: "exact", network: solana, extra: { feePayer: first } }]
      const signersIn = (signers: unknown) =>
        Effect.gen(function* () {
          const { rail } = yield* facilitator([{ body: { kinds, extensions: [], signers } }])
          return (yield* rail.kinds).map((kind) => kind.signers)
        })
      assert.deepStrictEqual(yield* signersIn({ "solana:*": [first, second], "eip155:*": ["0x1"] }), [[first, second]])
      assert.deepStrictEqual(yield* signersIn({ [solana]: [second, "rubbish", 7] }), [[second]])
      for (const none of [undefined, null, {}, { "solana:*": "rubbish" }]) {
        assert.deepStrictEqual(yield* signersIn(none), [[]])
      }
    })
  )

  it.effect("verifies, or says why not", () =>
    Effect.gen(function* () {
      const yes = yield* facilitator([{ body: { isValid: true, payer: "0x1" } }])
      yield* yes.rail.verify(authorization())
      assert.strictEqual(yes.questions[0]?.path, "/x402/verify")
      const no = yield* facilitator([{ body: { isValid: false, invalidReason: "insufficient_funds" }, status: 400 }])
      const refused = yield* Effect.flip(no.rail.verify(authorization()))
      assert.deepStrictEqual([refused._tag, refused.reason], ["AUTHORIZATION_REFUSED", "insufficient_funds"])
      const wordy = yield* facilitator([{ body: { isValid: false, invalidReason: "no".repeat(61) } }])
      assert.strictEqual((yield* Effect.flip(wordy.rail.verify(authorization()))).reason, "unexpected_verify_error")
    })
  )

  it.effect("has not verified what it says together with an error of its own", () =>
    Effect.gen(function* () {
      const refusal = { isValid: false, invalidReason: "insufficient_funds" }
      for (const answer of [
        { body: { isValid: true }, status: 400 },
        { body: { isValid: true }, status: 503 },
        { body: refusal, status: 500 }
      ]) {
        const { rail } = yield* facilitator([answer])
        assert.strictEqual((yield* Effect.flip(rail.verify(authorization())))._tag, "RAIL_UNAVAILABLE")
      }
    })
  )
})
