import * as fc from "fast-check"

/** Something that happens to a stream; money in micro-units, rates in 10^-18 units a second. */
export type Act =
  | { readonly kind: "top_up"; readonly amount: bigint }
  | { readonly kind: "pause" }
  | { readonly kind: "resume" }
  | { readonly kind: "rate"; readonly rate: bigint }
  | { readonly kind: "withdraw"; readonly amount: bigint | undefined }
  | { readonly kind: "cancel" }
  /** Somebody looks after what is due. */
  | { readonly kind: "look" }

export interface Story {
  readonly funds: bigint
  readonly deposit: bigint
  readonly buffer: bigint
  readonly rate: bigint
  /** What happens, and how many milliseconds after what happened before. */
  readonly acts: ReadonlyArray<readonly [pause: number, act: Act]>
}

const second = 1000
const rates = fc.oneof(
  fc.bigInt(1n, 1_000_000n),
  fc.bigInt(1n, 10n ** 15n),
  fc.bigInt(10n ** 12n, 10n ** 18n),
  fc.constantFrom(10n ** 18n, 385_802_469_135_802n, 333_333_333_333_333_333n, 1n, 10n ** 24n)
)
const amounts = fc.oneof(fc.bigInt(1n, 20n), fc.bigInt(1n, 10n ** 6n), fc.bigInt(1n, 10n ** 10n))
const pauses = fc.oneof(
  fc.integer({ min: 0, max: 5 * second }),
  fc.integer({ min: 0, max: 3600 * second }),
  fc.integer({ min: 0, max: 48 * 3600 * second }),
  fc.constantFrom(0, 1, 86_400 * second, 365 * 86_400 * second)
)
const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant("top_up" as const), amount: amounts }),
  fc.record({ kind: fc.constant("pause" as const) }),
  fc.record({ kind: fc.constant("resume" as const) }),
  fc.record({ kind: fc.constant("rate" as const), rate: rates }),
  fc.record({ kind: fc.constant("withdraw" as const), amount: fc.option(amounts, { nil: undefined }) }),
  fc.record({ kind: fc.constant("look" as const) })
)

/** Lives of streams; most end by being cancelled. */
export const stories = (longest: number): fc.Arbitrary<Story> =>
  fc
    .record({
      deposit: fc.bigInt(2n, 10n ** 9n),
      part: fc.integer({ min: 0, max: 120 }),
      extra: fc.bigInt(0n, 10n ** 10n),
      rate: rates,
      acts: fc.array(fc.tuple(pauses, acts), { maxLength: longest }),
      end: fc.option(pauses, { nil: undefined }),
      after: fc.array(fc.tuple(pauses, acts), { maxLength: 2 })
    })
    .map(({ acts, after, deposit, end, extra, part, rate }) => ({
      funds: deposit + extra,
      deposit,
      buffer: part > 99 ? 0n : (deposit * BigInt(part)) / 100n,
      rate,
      acts: end === undefined ? acts : [...acts, [end, { kind: "cancel" as const }] as const, ...after]
    }))

const micro = 10n ** 15n
const alarms = ["none", "warning", "critical", "exhausted"] as const

/**
 * What a stream has to do, told in another way than it does it: a heap of money that grows smaller while it flows, in 10^-21 units,
 * and three purses in micro-units.
 */
export class Model {
  payer: bigint
  recipient = 0n
  /** What may still flow, and all that ever has. */
  left: bigint
  flowed = 0n
  buffer: bigint
  rate: bigint
  state: "flows" | "stopped" | "dry" | "over" = "flows"
  given = 0n
  alarm = 0
  readonly alerts: Array<string> = []

  constructor({ buffer, deposit, funds, rate }: Story) {
    this.payer = funds - deposit
    this.left = (deposit - buffer) * micro
    this.buffer = buffer
    this.rate = rate
    this.#watch()
  }

  get stream(): bigint {
    const whole = this.left + this.flowed
    return this.state === "over" ? 0n : whole / micro + this.buffer - this.given
  }

  get ready(): bigint {
    return this.state === "over" ? 0n : this.flowed / micro - this.given
  }

  pass(millis: number) {
    if (this.state !== "flows") return
    const wanted = this.rate * BigInt(millis)
    const flow = wanted < this.left ? wanted : this.left
    this.left -= flow
    this.flowed += flow
    if (this.left === 0n) this.state = "dry"
  }

  #watch() {
    if (this.state === "over") return
    const hours = (count: bigint) => this.rate * 3_600_000n * count
    const level = this.left === 0n ? 3 : this.left < hours(1n) ? 2 : this.left < hours(24n) ? 1 : 0
    if (level > this.alarm) {
      if (this.state === "stopped" || (this.state === "dry" && level < 3)) return
      this.alerts.push(alarms[level] ?? "")
    }
    this.alarm = level
  }

  /** The code of the refusal, or undefined when it is done. Nothing changes when it is refused. */
  act(act: Act): string | undefined {
    const refusal = this.#refusal(act)
    if (refusal !== undefined) return refusal
    this.#watch()
    switch (act.kind) {
      case "top_up":
        this.payer -= act.amount
        this.left += act.amount * micro
        break
      case "pause":
        this.state = "stopped"
        break
      case "resume":
        this.state = "flows"
        break
      case "rate":
        this.rate = act.rate
        break
      case "withdraw": {
        const amount = act.amount ?? this.ready
        this.recipient += amount
        this.given += amount
        break
      }
      case "cancel": {
        const { ready, stream } = this
        this.recipient += ready
        this.payer += stream - ready
        this.state = "over"
        break
      }
    }
    this.#watch()
    return undefined
  }

  #refusal(act: Act): string | undefined {
    if (act.kind === "look") return undefined
    const invalid = "STATE_TRANSITION_INVALID"
    if (this.state === "over") return invalid
    if (act.kind === "pause") return this.state === "flows" ? undefined : invalid
    if (act.kind === "resume") {
      if (this.state === "flows") return invalid
      return this.left === 0n ? "STREAM_EXHAUSTED" : undefined
    }
    if (act.kind === "top_up") return act.amount > this.payer ? "INSUFFICIENT_BALANCE" : undefined
    if (act.kind !== "withdraw") return undefined
    if (act.amount === undefined) return this.ready === 0n ? "NOTHING_ACCRUED" : undefined
    return act.amount > this.ready ? "AMOUNT_EXCEEDS_ACCRUED" : undefined
  }
}
