import type { PaymentRow } from "#domain/Payment.ts"
import type { Grant } from "#services/Payments.ts"
import type { Subject } from "./PaymentSubjects.ts"

/** A call that was given the payment. */
export interface UsingCall {
  readonly number: number
  readonly process: 0 | 1
  readonly payment: PaymentRow
  readonly request: string
  /** When it has the payment no more. */
  readonly until: number
  state: "live" | "charging" | "charged" | "over" | "dead"
  /** Its answer, where that is kept. */
  readonly kept: Set<string>
}

interface Money {
  readonly held: bigint
  readonly spent: bigint
  readonly earned: bigint
}

/** How long an answer is kept at least for whoever comes back, in milliseconds. */
const keptFor = 300_000

/** What happened to one payment, and what must not. */
export class PaymentBook {
  now: number
  readonly calls: Array<UsingCall> = []
  readonly trace: Array<string> = []
  isBroken = false
  /** Whether anybody has said what became of an answer. */
  isSeen = false
  /** How often it may have been taken: once by who brings it, and anew by who slept until that was over. */
  takings = 0
  #answers = 0
  #firstCharge: number | undefined
  #wasTried = false
  readonly #subject: Subject
  readonly #began: number

  constructor(subject: Subject, now: number) {
    this.#subject = subject
    this.#began = now
    this.now = now
  }

  say(what: string) {
    this.trace.push(`${this.now - this.#began} ms: ${what}`)
  }
  breaks(what: string) {
    this.say(`BROKEN: ${what}`)
    this.isBroken = true
  }
  newAnswer(): string {
    return `answer ${++this.#answers}`
  }

  #charged(): ReadonlyArray<UsingCall> {
    return this.calls.filter(({ state }) => state === "charged")
  }

  /** Somebody who brought it was told something; in a word. */
  answered(process: 0 | 1, request: string, grant: Grant | undefined, refusal: string): string {
    const charged = this.#charged()
    switch (grant?._tag) {
      case undefined: {
        const lost = charged.some((call) => call.request === request && call.kept.size > 0)
        const isKept = this.now < (this.#firstCharge ?? 0) + keptFor && !this.isSeen
        if (refusal === "PAYMENT_ALREADY_USED" && lost && isKept) this.breaks("its answer is lost")
        return refusal
      }
      case "Answered": {
        const text = Buffer.from(grant.answer.body).toString()
        this.say(`it is ${text}`)
        if (!this.calls.some((call) => call.request === request && call.kept.has(text))) {
          this.breaks("it is the answer to another request")
        }
        return grant._tag
      }
      case "Refused":
        if (charged.length > 0) this.breaks(`asked for money once more: ${grant.reason}`)
        return grant.reason
      case "Granted":
        this.#granted(process, request, grant.payment)
        return grant._tag
    }
  }

  #granted(process: 0 | 1, request: string, payment: PaymentRow) {
    const until = payment.lease_until?.getTime() ?? 0
    const number = this.calls.length
    this.say(`call ${number} has it, attempt ${payment.attempt}, until ${until - this.#began} ms`)
    // Who slept until its lease was over calls no origin any more.
    const isLate = until <= this.now
    // The chain may have refused a charge that its call has not been told of yet.
    const having = this.#subject.rail === "chain" ? ["live"] : ["live", "charging"]
    const other = this.calls.find(({ state, until: end }) => having.includes(state) && end > this.now)
    if (other !== undefined && !isLate) this.breaks(`call ${other.number} still has it`)
    if (this.#charged().length > 0 && !isLate) this.breaks("it was charged before")
    this.calls.push({ number, process, payment, request, until, state: "live", kept: new Set() })
  }

  charging(call: UsingCall, answer: string | undefined) {
    call.state = "charging"
    this.#firstCharge ??= this.now
    this.#wasTried = true
    if (answer !== undefined) call.kept.add(answer)
  }

  /** A call was told what became of its charge; in a word. */
  charged(call: UsingCall, amount: bigint | undefined, refusal: string): string {
    const isLate = call.until <= this.now
    const { isFree, rail } = this.#subject
    if (amount !== undefined) {
      const others = this.#charged()
      // What costs nothing a call may count after its lease, also for the one that has it by then: nobody loses by it.
      const isShared = isFree && (isLate || others.some(({ until }) => until <= this.now))
      if (others.length > 0 && !isShared) this.breaks("two calls were served for one charge")
      if (!isFree && amount === 0n) this.breaks("served for nothing")
      call.state = "charged"
      return "done"
    }
    call.state = "over"
    const isOurs = rail === "ledger" || refusal === "HOLD_NOT_OPEN" || refusal.includes("duplicate")
    if (isOurs && !isLate) this.breaks("a call that has it is not charged")
    return isLate ? `${refusal}, late` : refusal
  }

  /** Nobody does anything any more, and the workers have had their turns. */
  ended(
    row: PaymentRow | undefined,
    money: { readonly before: Money; readonly after: Money },
    facts: ReadonlyArray<string>,
    openHolds: number
  ) {
    const isCharged = row?.state === "captured"
    const charged = row?.charged ?? 0n
    const [spent, earned] = [money.after.spent - money.before.spent, money.after.earned - money.before.earned]
    if (row !== undefined && !isCharged && row.state !== "expired") this.breaks(`it stays ${row.state}`)
    if (money.after.held !== 0n || openHolds > 0) this.breaks("its money stays held")
    if (earned !== charged || (this.#subject.rail === "ledger" && spent !== charged)) {
      this.breaks(`${spent} were spent and ${earned} earned of ${charged}`)
    }
    if (this.#charged().length > 0 && !isCharged) this.breaks("a charge that was told is lost")
    if (isCharged && !this.#wasTried) this.breaks("charged without a call")
    const completed = facts.filter((type) => type === "x402.payment.completed").length
    if (completed !== (isCharged ? 1 : 0)) this.breaks(`it is told ${completed} times that it was charged`)
    if (facts.length - completed > this.takings) this.breaks("more calls failed than there were")
  }
}
