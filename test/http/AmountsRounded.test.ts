import { assert, it, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { amountNames } from "#domain/Money.ts"
import { parse } from "#http/ReadableBody.ts"
import { passed } from "#services/RealTime.ts"
import { described, type JsonSchema, resolve } from "./Description.ts"
import { parties } from "./TransfersHarness.ts"
import { options, serverOf } from "./WalletsServer.ts"

it("what takes numbers with decimals is looked at by the reader of bodies, but for a factor, which is no amount", () => {
  const found = new Set<string>()
  const look = (given: JsonSchema, name: string): void => {
    const { anyOf = [], items, properties = {}, type } = resolve(given)
    if (type === "number") found.add(name)
    for (const one of [...anyOf, ...(items === undefined ? [] : [items])]) look(one, name)
    for (const [field, schema] of Object.entries(properties)) look(schema, field)
  }
  for (const { body } of described) look(body?.schema ?? {}, "")
  assert.deepStrictEqual([...found].sort(), [...amountNames, "priceMultiplier"].sort())
})

it("many numbers below a very long name are looked at in a moment", () => {
  const numbers = Array(10_000).fill("1.5").join(",")
  const began = passed()
  assert.isTrue(Result.isSuccess(parse(`{"${"k".repeat(500_000)}":[${numbers},1.00000000000000000001]}`)))
  assert.isBelow(passed() - began, 3_000)
})

layer(serverOf("sandbox"), options)("a JSON number that would be read as another one", (it) => {
  it.effect("refuses the batch in which it is the amount of an item, and names the item", () =>
    Effect.gen(function* () {
      const { balance, call, from, to } = yield* parties()
      const items = ["1", "1.00000000000000000001"].map(
        (amount) => `{"to_wallet_id":"${to}","currency":"USDC","amount":${amount}}`
      )
      const { body, status } = yield* call(
        "POST",
        "/v1/transfers/batch",
        `{"from_wallet_id":"${from}","transfers":[${items.join(",")}]}`
      )
      assert.deepStrictEqual([status, body.code, body.details.param], [422, "INVALID_AMOUNT", "transfers.1.amount"])
      assert.strictEqual(yield* balance(from), "10.00")
    })
  )

  for (const [field, rest] of [
    ["initial_deposit", '"flow_rate":"1"'],
    ["buffer", '"flow_rate":"1","initial_deposit":"2"']
  ] as const) {
    it.effect(`is refused as ${field} of a stream`, () =>
      Effect.gen(function* () {
        const { balance, call, from, to } = yield* parties()
        const wallets = `"from_wallet_id":"${from}","to_wallet_id":"${to}"`
        const { body, status } = yield* call(
          "POST",
          "/v1/streams",
          `{${wallets},${rest},"${field}":1.00000000000000000001}`
        )
        assert.deepStrictEqual([status, body.code, body.details.param], [422, "INVALID_AMOUNT", field])
        assert.strictEqual(yield* balance(from), "10.00")
      })
    )
  }

  it.effect("is refused where nothing is an amount, and it would be read as nothing", () =>
    Effect.gen(function* () {
      const { call, from, to } = yield* parties()
      const wallets = `"from_wallet_id":"${from}","to_wallet_id":"${to}"`
      const { body, status } = yield* call(
        "POST",
        "/v1/streams",
        `{${wallets},"flow_rate":"1","initial_deposit":"2","buffer":1E-400}`
      )
      assert.deepStrictEqual([status, body.code, body.details?.param], [422, "INVALID_AMOUNT", "buffer"])
    })
  )

  it.effect("is the caller's own business in metadata, also when it is called amount there", () =>
    Effect.gen(function* () {
      const { call, from, to } = yield* parties()
      const { status } = yield* call(
        "POST",
        "/v1/streams",
        `{"from_wallet_id":"${from}","to_wallet_id":"${to}","flow_rate":"1","initial_deposit":"1","metadata":{"amount":0.10000000000000000001}}`
      )
      assert.strictEqual(status, 201)
    })
  )

  it.effect("is no other one with zeros behind it", () =>
    Effect.gen(function* () {
      const { createRaw } = yield* parties()
      const { body, status } = yield* createRaw("amount", "1.50000000000000000000")
      assert.deepStrictEqual([status, body.amount], [201, "1.50"])
    })
  )
})
