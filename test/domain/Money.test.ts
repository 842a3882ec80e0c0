import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema, SchemaIssue } from "effect"
import {
  Amount,
  type AmountRefusal,
  amountRefusals,
  formatDecimal,
  isExactNumber,
  maxMicros,
  Micros,
  parseDecimal
} from "#domain/Money.ts"

const decode = Schema.decodeUnknownExit(Amount)
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The micro-units an input stands for, or the refusal it meets. */
const outcome = (input: unknown): bigint | string => {
  const exit = decode(input)
  if (Exit.isSuccess(exit)) return exit.value
  const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
  const message = error === undefined ? "" : (format(error.issue).issues[0]?.message ?? "")
  return Object.entries(amountRefusals).find(([, text]) => text === message)?.[0] ?? message
}

const refused: ReadonlyArray<readonly [name: string, input: unknown, code: AmountRefusal]> = [
  ["zero", "0", "AMOUNT_TOO_SMALL"],
  ["zero with decimals", "0.000000", "AMOUNT_TOO_SMALL"],
  ["a negative number", "-1", "INVALID_AMOUNT"],
  ["an explicit plus", "+1", "INVALID_AMOUNT"],
  ["an exponent", "1e3", "INVALID_AMOUNT"],
  ["hexadecimal", "0x10", "INVALID_AMOUNT"],
  ["NaN", "NaN", "INVALID_AMOUNT"],
  ["Infinity", "Infinity", "INVALID_AMOUNT"],
  ["thousands separators", "1,000.00", "INVALID_AMOUNT"],
  ["surrounding spaces", " 1 ", "INVALID_AMOUNT"],
  ["a trailing line feed", "1\n", "INVALID_AMOUNT"],
  ["the empty string", "", "INVALID_AMOUNT"],
  ["a lone point", ".", "INVALID_AMOUNT"],
  ["a trailing point", "1.", "INVALID_AMOUNT"],
  ["a leading point", ".5", "INVALID_AMOUNT"],
  ["a leading zero", "01", "INVALID_AMOUNT"],
  ["seven decimals", "1.0000001", "INVALID_AMOUNT"],
  ["seven decimals that end in zero", "1.0000000", "INVALID_AMOUNT"],
  ["full-width digits", "１２", "INVALID_AMOUNT"],
  ["Arabic digits", "١٢", "INVALID_AMOUNT"],
  ["forty digits", "1".repeat(40), "INVALID_AMOUNT"],
  ["more than a bigint of units", "9223372036854775808", "AMOUNT_TOO_LARGE"],
  ["one micro-unit more than a bigint", "9223372036854.775808", "AMOUNT_TOO_LARGE"],
  ["a JSON number of 1e400", Number.POSITIVE_INFINITY, "INVALID_AMOUNT"],
  ["a JSON number below the scale", 0.0000001, "INVALID_AMOUNT"],
  ["a negative JSON number", -1, "INVALID_AMOUNT"],
  ["a JSON number too large to carry 6 decimals", Number("8999999999.000001"), "INVALID_AMOUNT"],
  ["the first JSON number that is too large for them", 1_000_000_000, "INVALID_AMOUNT"],
  ["a JSON number of zero", 0, "AMOUNT_TOO_SMALL"],
  ["null", null, "INVALID_AMOUNT"],
  ["a boolean", true, "INVALID_AMOUNT"],
  ["an array", ["1"], "INVALID_AMOUNT"],
  ["an object with toString", { toString: () => "1" }, "INVALID_AMOUNT"],
  ["a bigint", 1n, "INVALID_AMOUNT"]
]

const accepted: ReadonlyArray<readonly [name: string, input: unknown, micros: bigint]> = [
  ["a whole number", "1", 1_000_000n],
  ["one decimal", "0.1", 100_000n],
  ["six decimals", "1.000001", 1_000_001n],
  ["the smallest amount", "0.000001", 1n],
  ["the largest amount", "9223372036854.775807", maxMicros],
  ["a JSON number of 0.1", 0.1, 100_000n],
  ["a JSON number of 3", 3, 3_000_000n],
  ["the largest JSON number with 6 decimals", 999_999_999.999999, 999_999_999_999_999n]
]

describe("an amount", () => {
  for (const [name, input, code] of refused) {
    it(`${name} is ${code}`, () => assert.strictEqual(outcome(input), code))
  }

  for (const [name, input, micros] of accepted) {
    it(`${name} is exact`, () => assert.strictEqual(outcome(input), micros))
  }

  for (const [text, isExact] of [
    ["0.1", true],
    ["1.0000000000000000000", true],
    ["0.0000000000000000000", true],
    ["10e-1", true],
    ["1E-6", true],
    ["123456789.123456", true],
    ["1.00000000000000000001", false],
    ["0.10000000000000001", false],
    ["999999999.0000041", false],
    ["9999999990000041e-7", false],
    ["-1.00000000000000000001", false],
    ["1e400", false]
  ] as const) {
    it(`a JSON number of ${text} ${isExact ? "is" : "is not"} what was written`, () => {
      assert.strictEqual(isExactNumber(text), isExact)
    })
  }

  it("a JSON number with a million zeros in it is read at once: anybody may send one, and all wait meanwhile", () => {
    assert.isFalse(isExactNumber(`1.${"0".repeat(1_000_000)}1`))
  })

  it("0.1 and 0.2 make 0.3", () => {
    assert.strictEqual(
      formatDecimal(Schema.decodeUnknownSync(Amount)("0.1") + Schema.decodeUnknownSync(Amount)("0.2")),
      "0.30"
    )
  })

  it("ten thousand of the smallest amount make one cent", () => {
    let sum = 0n
    for (let count = 0; count < 10_000; count++) sum += Schema.decodeUnknownSync(Amount)("0.000001")
    assert.strictEqual(formatDecimal(sum), "0.01")
  })
})

describe("a decimal", () => {
  it("has at least two decimals and no other trailing zeros", () => {
    assert.deepStrictEqual([0n, 1n, 10n, 1_500_000n, 1_234_500n, -1n, -12_000_000n, maxMicros].map(formatDecimal), [
      "0.00",
      "0.000001",
      "0.00001",
      "1.50",
      "1.2345",
      "-0.000001",
      "-12.00",
      "9223372036854.775807"
    ])
  })

  it.prop(
    "is read back as what was written",
    { micros: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: maxMicros })) },
    ({ micros }) => {
      assert.strictEqual(parseDecimal(formatDecimal(micros)), micros)
      assert.strictEqual(Schema.decodeUnknownSync(Micros)(Schema.encodeSync(Micros)(-micros)), -micros)
    }
  )

  it.prop("other text is never taken for a number", { text: Schema.String }, ({ text }) => {
    const micros = parseDecimal(text)
    if (micros !== undefined) assert.match(text, /^\d+(\.\d{1,6})?$/)
  })
})
