import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer, Logger, Option, Redacted } from "effect"
import { QuoteId, WalletId } from "#domain/Ids.ts"
import type { SettlementOrder } from "#domain/Settlement.ts"
import * as TransferRail from "#layers/TransferRail.ts"
import * as TransferRailHttp from "#layers/TransferRailHttp.ts"
import { Deployment } from "#services/Deployment.ts"
import { Custody } from "#services/Ledger/Custody.ts"
import { newUuid } from "#services/NewId.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { TransferRail as Port } from "#services/TransferRail.ts"
import { type Answer, answering } from "./Answering.ts"

const provider = (...answers: ReadonlyArray<Answer>) => providerAt("/pay/", ...answers)

const providerAt = Effect.fnUntraced(function* (path: string, ...answers: ReadonlyArray<Answer>) {
  const { host, state } = yield* answering(answers)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host], bodyBytes: 10_000 }))
  const layer = TransferRailHttp.layer({
    url: new URL(`http://${host}${path}`),
    authorization: Option.some(Redacted.make("Bearer of-nobody"))
  }).pipe(Layer.provide(PublicHttp.layer), Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
  return { rail: Context.get(yield* Layer.build(Layer.fresh(layer)), Port), questions: state.questions }
})

const reference = "tx_01h455vb4pex5vsknk084sn02q"
const order: SettlementOrder = {
  reference,
  quote_id: QuoteId.make(newUuid()),
  from: { wallet_id: WalletId.make(newUuid()), currency: "USDC", network: "solana-mainnet", address: "payer" },
  to: { wallet_id: WalletId.make(newUuid()), currency: "EURC", network: "base-mainnet", address: "payee" },
  send_amount: 100_000_000n,
  fee: 250_000n,
  receive_amount: 91_000_000n,
  memo: "Invoice 42",
  created_at: new Date(0)
}
const completed = { reference, status: "completed", rail_reference: "wire-1" }

describe("a settlement provider over HTTP", () => {
  it.live("is sent the order under its reference, with the credential", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* provider({ status: 201, body: completed })
      assert.deepStrictEqual(yield* rail.submit(order), { _tag: "Completed", rail_reference: "wire-1" })
      const [question] = questions
      assert.deepInclude(question ?? {}, { method: "POST", path: "/pay/settlements" })
      assert.deepInclude(question?.headers ?? {}, {
        "idempotency-key": reference,
        authorization: "Bearer of-nobody",
        "content-type": "application/json"
      })
      assert.deepInclude(question?.body ?? {}, {
        reference,
        amount: "99.75",
        fee: "0.25",
        receive_amount: "91.00",
        memo: "Invoice 42",
        created_at: "1970-01-01T00:00:00.000Z"
      })
    }).pipe(Effect.scoped)
  )

  it.live("is known by all of its address", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* providerAt("//pay?key=of-nobody", { body: completed }, { body: completed })
      yield* rail.submit(order)
      yield* rail.status(order)
      assert.deepStrictEqual(
        questions.map(({ path }) => path),
        ["//pay/settlements?key=of-nobody", `//pay/settlements/${reference}?key=of-nobody`]
      )
    }).pipe(Effect.scoped)
  )

  it.live("says pending, completed or rejected, with a reason we know or rail_error", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* provider(
        { status: 202, body: { reference, status: "pending" } },
        { body: { ...completed, more: 1 } },
        { body: { reference, status: "rejected", reason: "compliance_block" } },
        { body: { reference, status: "rejected", reason: "moon in the wrong house" } },
        { body: { reference, status: "rejected" } }
      )
      assert.deepStrictEqual(yield* rail.submit(order), { _tag: "Pending" })
      assert.deepStrictEqual(yield* rail.status(order), { _tag: "Completed", rail_reference: "wire-1" })
      assert.deepStrictEqual(yield* rail.status(order), { _tag: "Rejected", reason: "compliance_block" })
      assert.deepStrictEqual(yield* rail.status(order), { _tag: "Rejected", reason: "rail_error" })
      assert.deepStrictEqual(yield* rail.status(order), { _tag: "Rejected", reason: "rail_error" })
      assert.deepInclude(questions[1] ?? {}, { method: "GET", path: `/pay/settlements/${reference}`, body: undefined })
      assert.strictEqual(questions[1]?.headers.authorization, "Bearer of-nobody")
    }).pipe(Effect.scoped)
  )

  it.live("that has lost the order is sent it again under the same reference", () =>
    Effect.gen(function* () {
      const { questions, rail } = yield* provider({ status: 404, body: {} }, { body: completed })
      assert.strictEqual((yield* rail.status(order))._tag, "Completed")
      assert.deepStrictEqual(
        questions.map(({ headers, method }) => [method, headers["idempotency-key"]]),
        [
          ["GET", undefined],
          ["POST", reference]
        ]
      )
    }).pipe(Effect.scoped)
  )

  const nothing: Record<string, Answer> = {
    "a cut connection": { body: "cut" },
    "a server error": { status: 500, body: completed },
    "a server that is busy": { status: 503, body: { reference, status: "rejected", reason: "rail_error" } },
    "a refusal of the request": { status: 422, body: { reference, status: "rejected", reason: "rail_error" } },
    "no JSON": { body: "<html>" },
    "nothing at all": { body: "" },
    "another order": { body: { ...completed, reference: "tx_other" } },
    "a status nobody knows": { body: { reference, status: "done" } },
    "a completion without its reference": { body: { reference, status: "completed" } },
    "an absurd reference": { body: { ...completed, rail_reference: "x".repeat(201) } },
    "more than anybody reads": { body: JSON.stringify({ ...completed, more: "x".repeat(20_000) }) },
    "a redirection": { status: 302, headers: { location: "http://127.0.0.1:1/" }, body: completed }
  }
  for (const [what, answer] of Object.entries(nothing)) {
    it.live(`that answers ${what} has said nothing about the money`, () =>
      Effect.gen(function* () {
        const { rail } = yield* provider(answer)
        assert.strictEqual((yield* Effect.flip(rail.submit(order)))._tag, "RAIL_UNAVAILABLE")
        assert.strictEqual((yield* Effect.flip(rail.status(order)))._tag, "RAIL_UNAVAILABLE")
      }).pipe(Effect.scoped)
    )
  }
})

describe("the rail of a live server", () => {
  const chosen = (environment: Readonly<Record<string, string>>) =>
    TransferRail.layer.pipe(
      Layer.provide(
        Layer.succeed(Deployment, { environment: "live", publicUrl: "http://t.test", scannerUrl: "http://t.test" })
      ),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
    )
  const railOf = (environment: Readonly<Record<string, string>>) =>
    Effect.map(Layer.build(Layer.fresh(chosen(environment))), (context) => Context.getOption(context, Port))

  it.live("is the provider whose address the operator gave, also a private one, with what a file of secrets has", () =>
    Effect.gen(function* () {
      const { host, state } = yield* answering([{ body: completed }])
      const rail = Option.getOrThrow(
        yield* railOf({ TURNPIKE_SETTLEMENT_URL: `http://${host}`, TURNPIKE_SETTLEMENT_AUTHORIZATION: "Basic eDp5\n" })
      )
      assert.strictEqual((yield* rail.submit(order))._tag, "Completed")
      assert.deepInclude(state.questions[0] ?? {}, { path: "/settlements" })
      assert.strictEqual(state.questions[0]?.headers.authorization, "Basic eDp5")
    }).pipe(Effect.scoped)
  )

  it.live("is none when there is no address, and nothing simulated", () =>
    Effect.gen(function* () {
      assert.isTrue(Option.isNone(yield* railOf({})))
      assert.isTrue(Option.isNone(yield* railOf({ TURNPIKE_SETTLEMENT_DELAY: "0" })))
    }).pipe(Effect.scoped)
  )

  it.live("is told of where no live wallet pays anything out, because its users hold the keys", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logged = Logger.layer([Logger.make(({ message }) => void said.push(String(message)))])
      for (const custody of ["operator", "self"] as const)
        yield* railOf({ TURNPIKE_SETTLEMENT_URL: "https://rail.test" }).pipe(
          Effect.provideService(Custody, custody),
          Effect.provide(logged)
        )
      assert.lengthOf(said, 1)
      assert.match(said[0] ?? "", /TURNPIKE_CUSTODY=operator/)
    }).pipe(Effect.scoped)
  )

  it.live("does not start with an address that cannot be asked", () =>
    Effect.gen(function* () {
      for (const url of ["nonsense", "ftp://rail.test", "file:///etc/passwd", "https://me:mine@rail.test"]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(railOf({ TURNPIKE_SETTLEMENT_URL: url }))), url)
      }
    }).pipe(Effect.scoped)
  )
})
