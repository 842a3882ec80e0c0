import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { settlementAmount } from "#domain/protocol/SettlementOverrides.ts"

const asked = (amount: unknown, maximum = 10_000n) => settlementAmount(JSON.stringify({ amount }), maximum)

describe("what an origin asks to take of a maximum", () => {
  it("is an amount in micro-units, a share, or money", () => {
    assert.strictEqual(asked("1500"), 1_500n)
    assert.strictEqual(asked("0"), 0n)
    assert.strictEqual(asked("10000"), 10_000n)
    assert.strictEqual(asked("50%"), 5_000n)
    assert.strictEqual(asked("33.33%", 1_001n), 333n)
    assert.strictEqual(asked("0.5%"), 50n)
    assert.strictEqual(asked("100%"), 10_000n)
    assert.strictEqual(asked("$0.002"), 2_000n)
    assert.strictEqual(asked("$0.01"), 10_000n)
  })

  it("is written as the official servers take it: with decimals that no token has, leading zeros, a point before nothing", () => {
    for (const [amount, micros] of [
      ["$0.0012345", 1_234n],
      ["$0.001234000000000001", 1_234n],
      ["$0.0000001", 0n],
      ["$0.0100009", 10_000n],
      ["$00.002", 2_000n],
      ["0050%", 5_000n],
      ["50.%", 5_000n],
      ["002500", 2_500n]
    ] as const) {
      assert.strictEqual(asked(amount), micros, amount)
    }
  })

  it("is all of it where it names no amount, as the official servers take it", () => {
    for (const header of ["{}", '{"other":"1500"}'])
      assert.strictEqual(settlementAmount(header, 10_000n), 10_000n, header)
  })

  it("is never more than the maximum", () => {
    for (const amount of ["10001", "100.01%", "999%", "$0.010001", "$1"]) assert.isUndefined(asked(amount), amount)
  })

  it("is refused in any other form", () => {
    const forms = [
      "",
      "-1",
      "+1",
      "1e3",
      " 1",
      "1.5",
      "0x10",
      "%",
      "50.123%",
      "0.123%",
      "50%%",
      "50% ",
      " $0.002",
      "-50%",
      "$",
      "$-1",
      "$1e-3",
      "$.002",
      "$0."
    ]
    for (const amount of [...forms, "9".repeat(30), 1500, null, {}, []]) {
      assert.isUndefined(asked(amount), JSON.stringify(amount))
    }
    for (const header of ["", "{", "null", "1500", '"1500"', "[]", `{"amount":"${"1".repeat(2_000)}"}`]) {
      assert.isUndefined(settlementAmount(header, 10_000n), header.slice(0, 20))
    }
  })

  it("is looked for in the first thousand characters, and not in a longer header", () => {
    const header = (length: number) => `{"amount":"1500"}`.padEnd(length)
    assert.strictEqual(settlementAmount(header(1_000), 10_000n), 1_500n)
    assert.isUndefined(settlementAmount(header(1_001), 10_000n))
  })

  const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }))
  it.prop(
    "a share of it is between nothing and all",
    { hundredths: Amount, maximum: Amount },
    ({ hundredths, maximum }) => {
      const part = hundredths % 10_001
      const share = asked(`${Math.floor(part / 100)}.${String(part % 100).padStart(2, "0")}%`, BigInt(maximum))
      assert.strictEqual(share, (BigInt(maximum) * BigInt(part)) / 10_000n)
    }
  )
})
