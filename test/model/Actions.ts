import * as fc from "fast-check"

/** Who pays, and who is paid. */
type Between = readonly [from: number, to: number]

/** One thing that somebody does. Things are named by their place among those there are so far, counted round and round. */
export type Action =
  | { readonly do: "fund" | "freeze" | "unfreeze"; readonly wallet: number; readonly amount: number }
  | { readonly do: "transfer" | "wrap"; readonly between: Between; readonly amount: number }
  | { readonly do: "hold"; readonly between: Between; readonly amount: number; readonly lasts: number }
  | { readonly do: "capture" | "release"; readonly hold: number; readonly amount: number }
  | { readonly do: "refund"; readonly transfer: number; readonly amount: number | undefined }
  | {
      readonly do: "dispute"
      readonly transfer: number
      readonly reason: "other" | "quality_issue"
      readonly amount: number | undefined
      readonly wants: "no_refund" | "partial_refund" | null
    }
  | { readonly do: "respond" | "escalate" }
  | { readonly do: "resolve"; readonly as: "full_refund" | "partial_refund" | "no_refund"; readonly amount: number }
  | {
      readonly do: "stream"
      readonly between: Between
      readonly amount: number
      readonly buffer: number
      readonly rate: bigint
    }
  | { readonly do: "top_up"; readonly stream: number; readonly amount: number }
  | { readonly do: "withdraw"; readonly stream: number; readonly amount: number | undefined }
  | { readonly do: "pause" | "resume" | "cancel"; readonly stream: number }
  | { readonly do: "rate"; readonly stream: number; readonly rate: bigint }

/** What happens between two moments at which time passes, several times. */
export type Sequence = ReadonlyArray<ReadonlyArray<Action>>

/** What the wallets begin with: most of them are poor, so that what is asked of them is often too much. */
export const beginning: ReadonlyArray<bigint> = [100n, 20n, 0n]
const walletCount = beginning.length
const phases = 5

const second = 1_000
const hour = 3_600 * second
const day = 24 * hour

const wallet = fc.nat(walletCount - 1)
const pairs: ReadonlyArray<Between> = [0, 1, 2].flatMap((from) =>
  [1, 2].map((far) => [from, (from + far) % walletCount] as const)
)
// Mostly between two of them, so that one action has to do with another.
const between = fc.constantFrom<Between>(...pairs, [0, 2], [0, 2], [2, 1], [2, 1], [0, 0])
const place = fc.nat(5)
// Often the same, so that a wallet that passes on what it got has nothing left of it.
const amount = fc.oneof(
  { weight: 4, arbitrary: fc.constant(10) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 25 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 120 }) }
)
const some = fc.option(amount, { nil: undefined })
// In 10^-18 units a second, where amounts are micro-units: from days for one of them to some in a second.
const rate = fc.constantFrom(
  1n,
  37_037_037n,
  123_456_789n,
  4_629_629_630n,
  333_333_333_333n,
  1_000_000_000_007n,
  7n * 10n ** 12n
)
const be = <const Name extends string>(...names: ReadonlyArray<Name>) => fc.constantFrom(...names)

type Weighted = ReadonlyArray<{ readonly weight: number; readonly arbitrary: fc.Arbitrary<Action> }>

const money: Weighted = [
  { weight: 3, arbitrary: fc.record({ do: be("fund"), wallet, amount }) },
  { weight: 2, arbitrary: fc.record({ do: be("freeze", "unfreeze", "unfreeze"), wallet, amount }) },
  { weight: 8, arbitrary: fc.record({ do: be("transfer", "wrap"), between, amount }) }
]
const lasts = fc.constantFrom(1, hour, 2 * day, 100 * day)
const holds: Weighted = [
  { weight: 3, arbitrary: fc.record({ do: be("hold"), between, amount, lasts }) },
  { weight: 4, arbitrary: fc.record({ do: be("capture", "release"), hold: place, amount }) }
]
const wants = fc.constantFrom(null, "no_refund" as const, "partial_refund" as const)
const reason = be("other", "other", "quality_issue")
const as = be("full_refund", "partial_refund", "no_refund")
const refunds: Weighted = [
  { weight: 5, arbitrary: fc.record({ do: be("refund"), transfer: place, amount: some }) },
  { weight: 5, arbitrary: fc.record({ do: be("dispute"), transfer: place, reason, amount: some, wants }) },
  { weight: 3, arbitrary: fc.record({ do: be("respond", "escalate") }) },
  { weight: 2, arbitrary: fc.record({ do: be("resolve"), as, amount }) }
]
/** The same between two about the same thing, over and over. */
const quarrels: Weighted = [
  { weight: 1, arbitrary: fc.record({ do: be("transfer"), between: fc.constant<Between>([0, 1]), amount }) },
  { weight: 4, arbitrary: fc.record({ do: be("dispute"), transfer: fc.constant(0), reason, amount: some, wants }) },
  { weight: 4, arbitrary: fc.record({ do: be("respond", "respond", "escalate") }) },
  { weight: 4, arbitrary: fc.record({ do: be("resolve"), as: be("no_refund", "no_refund", "partial_refund"), amount }) }
]
const buffer = fc.constantFrom(0, 0, 0, 3)
const streams: Weighted = [
  { weight: 4, arbitrary: fc.record({ do: be("stream"), between, amount, buffer, rate }) },
  { weight: 2, arbitrary: fc.record({ do: be("top_up"), stream: place, amount }) },
  { weight: 4, arbitrary: fc.record({ do: be("withdraw"), stream: place, amount: some }) },
  { weight: 5, arbitrary: fc.record({ do: be("pause", "resume", "cancel"), stream: place }) },
  { weight: 2, arbitrary: fc.record({ do: be("rate"), stream: place, rate }) }
]

const sequenceOf = (...some: ReadonlyArray<Weighted>): fc.Arbitrary<Sequence> =>
  fc.array(fc.array(fc.oneof(...some.flat()), { maxLength: 7 }), {
    minLength: phases,
    maxLength: phases,
    size: "max"
  })

/** Everything together, and some things among themselves: what takes many steps of one kind is rare otherwise. */
export const sequence: fc.Arbitrary<Sequence> = fc.oneof(
  sequenceOf(money, holds, refunds, streams),
  sequenceOf(money, refunds),
  sequenceOf(quarrels),
  sequenceOf(money, streams),
  sequenceOf(money, holds, refunds)
)

/** How long time passes between the phases, in milliseconds; the same for all sequences that run side by side. */
export const pauses: fc.Arbitrary<ReadonlyArray<number>> = fc.array(
  fc.constantFrom(1, 7 * second, 59 * second, hour, day, 29 * day, 30 * day, 31 * day, 90 * day),
  { minLength: phases - 1, maxLength: phases - 1 }
)

/** A sequence as a person reads it. */
export const tell = (steps: Sequence, waits: ReadonlyArray<number>): string =>
  steps
    .map((part, index) => {
      const lines = part.map(({ do: name, ...rest }) => {
        const said = Object.entries(rest).map(([field, value]) => `${field}: ${value}`)
        return `  ${name} ${said.join(", ")}`
      })
      return [...(index === 0 ? [] : [`  … ${waits[index - 1]} ms later`]), ...lines].join("\n")
    })
    .join("\n")
