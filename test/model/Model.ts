import type { Action } from "./Actions.ts"
import { Streams } from "./StreamModel.ts"

/** The rules once more, without database, concurrency or ledger: what should be so, for the platform to be held against. */
interface Wallet {
  posted: bigint
  held: bigint
  frozen: boolean
}
interface Transfer {
  readonly from: number
  readonly to: number
  readonly amount: bigint
  readonly at: number
  readonly status: "completed" | "failed"
  readonly isRefund: boolean
  refunded: bigint
}
interface Hold {
  readonly from: number
  readonly to: number
  readonly amount: bigint
  readonly until: number
  state: "open" | "captured" | "released" | "expired"
}
interface Dispute {
  readonly transfer: Transfer
  readonly reason: string
  readonly amount: bigint
  /** What had been refunded of the transfer when it was filed. */
  readonly before: bigint
  readonly wants: string | null
  readonly ends: number
  status: "open" | "under_review" | "escalated" | "resolved"
  resolution: string | null
  /** Whether the receiver said anything. */
  answered: boolean
}
interface Owed {
  readonly transfer: Transfer
  readonly amount: bigint
  readonly since: number
  due: number
}
const hour = 3_600_000
const day = 24 * hour
const least = (one: bigint, other: bigint) => (one < other ? one : other)
const at = <Thing>(things: ReadonlyArray<Thing>, place: number): Thing | undefined => things[place % things.length]

export class Model {
  now = 0
  readonly wallets: ReadonlyArray<Wallet>
  readonly transfers: Array<Transfer> = []
  readonly holds: Array<Hold> = []
  readonly streams = new Streams(
    (from, amount) => this.pay(from, undefined, amount),
    (to, amount) => {
      this.wallet(to).posted += amount
    }
  )
  readonly disputes: Array<Dispute> = []
  owed: Array<Owed> = []

  constructor(funds: ReadonlyArray<bigint>) {
    this.wallets = funds.map((posted) => ({ posted, held: 0n, frozen: false }))
  }

  wallet(place: number): Wallet {
    return this.wallets[place]!
  }
  /** Why a wallet cannot pay; undefined when it has paid. */
  private pay(from: number, to: number | undefined, amount: bigint): string | undefined {
    const payer = this.wallet(from)
    if (payer.frozen) return "WALLET_FROZEN"
    if (payer.posted - payer.held < amount) return "INSUFFICIENT_BALANCE"
    payer.posted -= amount
    if (to !== undefined) this.wallet(to).posted += amount
    return undefined
  }
  private remaining(transfer: Transfer): bigint {
    const owed = this.owed.filter((one) => one.transfer === transfer).reduce((sum, { amount }) => sum + amount, 0n)
    return transfer.amount - transfer.refunded - owed
  }
  /** What a dispute may bring back: what it is about, without what was refunded since. */
  private award({ amount, before, transfer }: Dispute): bigint {
    return least(amount - (transfer.refunded - before), this.remaining(transfer))
  }
  /** Money of a transfer back; why not, when it could not be. */
  private giveBack(transfer: Transfer, amount: bigint): string | undefined {
    const refused = this.pay(transfer.to, transfer.from, amount)
    if (refused === undefined) transfer.refunded += amount
    return refused
  }
  /** Time passes, and then everything that is due happens. */
  pass(millis: number): void {
    this.now += millis
    for (const hold of this.holds.filter(({ state, until }) => state === "open" && until < this.now)) {
      hold.state = "expired"
      this.wallet(hold.from).held -= hold.amount
    }
    this.streams.pass(millis)
    for (const dispute of this.disputes.filter(({ ends, status }) => status === "open" && ends <= this.now)) {
      const { transfer, wants } = dispute
      const amount = this.award(dispute)
      dispute.status = "resolved"
      dispute.resolution = wants === "no_refund" || amount <= 0n ? "no_refund" : (wants ?? "full_refund")
      if (dispute.resolution === "no_refund" || this.giveBack(transfer, amount) === undefined) continue
      this.owed.push({ transfer, amount, since: this.now, due: this.now + hour })
    }
    for (const owed of this.owed.filter(({ due }) => due <= this.now)) {
      this.owed = this.owed.filter((one) => one !== owed)
      if (this.giveBack(owed.transfer, owed.amount) === undefined || this.now >= owed.since + 15 * day) continue
      owed.due = Math.min(owed.since + 15 * day, this.now + (this.now < owed.since + day ? hour : day))
      this.owed.push(owed)
    }
  }

  /** What is answered. `none` when there is nothing to do it to. */
  apply(action: Action): string {
    switch (action.do) {
      case "fund":
        this.wallet(action.wallet).posted += BigInt(action.amount)
        return "done"
      case "freeze":
      case "unfreeze":
        this.wallet(action.wallet).frozen = action.do === "freeze"
        return "done"
      case "transfer":
      case "wrap": {
        const {
          amount,
          between: [from, to]
        } = action
        if (from === to) return "SAME_WALLET"
        const refused = this.pay(from, to, BigInt(amount))
        if (refused === "WALLET_FROZEN") return refused
        const status = refused === undefined ? "completed" : "failed"
        this.transfers.push({ from, to, amount: BigInt(amount), at: this.now, status, isRefund: false, refunded: 0n })
        return status
      }
      case "hold": {
        const {
          between: [from, to],
          lasts
        } = action
        const [payer, amount] = [this.wallet(from), BigInt(action.amount)]
        if (from === to) return "SAME_WALLET"
        if (payer.frozen) return "WALLET_FROZEN"
        if (payer.posted - payer.held < amount) return "INSUFFICIENT_BALANCE"
        payer.held += amount
        this.holds.push({ from, to, amount, until: this.now + lasts, state: "open" })
        return "done"
      }
      case "capture":
      case "release": {
        const hold = at(this.holds, action.hold)
        if (hold === undefined) return "none"
        if (hold.state !== "open") return "HOLD_NOT_OPEN"
        const taken = action.do === "capture" ? least(hold.amount, BigInt(action.amount)) : 0n
        hold.state = action.do === "capture" ? "captured" : "released"
        this.wallet(hold.from).held -= hold.amount
        this.wallet(hold.from).posted -= taken
        this.wallet(hold.to).posted += taken
        return "done"
      }
      case "refund": {
        const transfer = at(this.transfers, action.transfer)
        if (transfer === undefined) return "none"
        const judged = this.judge(transfer, 90 * day, action.amount)
        if (typeof judged === "string") return judged
        const refused = this.giveBack(transfer, judged)
        if (refused !== undefined) return refused
        const { from: to, to: from } = transfer
        const back = {
          from,
          to,
          amount: judged,
          at: this.now,
          status: "completed",
          isRefund: true,
          refunded: 0n
        } as const
        this.transfers.push(back)
        return "completed"
      }
      case "dispute": {
        const transfer = at(this.transfers, action.transfer)
        if (transfer === undefined || this.owed.length > 0) return "none"
        const other = this.disputes.find(({ status }) => status !== "resolved")
        // Two that end at once for want of an answer would race for the same money.
        if (other !== undefined && other.transfer !== transfer) return "none"
        const judged = this.judge(transfer, 120 * day, action.amount, this.whyNot(transfer, action.reason))
        if (typeof judged === "string") return judged.replace("REFUND", "DISPUTE").replace("NOT_DISPUTE", "NOT_REFUND")
        const { reason, wants } = action
        const [before, ends] = [transfer.refunded, this.now + 30 * day]
        const fresh = { status: "open", resolution: null, answered: false } as const
        this.disputes.push({ transfer, reason, amount: judged, before, wants, ends, ...fresh })
        return "open"
      }
      case "respond":
      case "escalate": {
        const dispute = this.disputes.at(-1)
        if (dispute === undefined) return "none"
        const from = action.do === "respond" ? "open" : "under_review"
        if (dispute.status !== from) return "STATE_TRANSITION_INVALID"
        dispute.status = action.do === "respond" ? "under_review" : "escalated"
        dispute.answered = true
        return dispute.status
      }
      case "resolve": {
        const dispute = this.disputes.at(-1)
        if (dispute === undefined) return "none"
        if (dispute.status === "resolved") return "STATE_TRANSITION_INVALID"
        if (action.as !== "no_refund") {
          const most = this.award(dispute)
          const amount = action.as === "full_refund" ? most : BigInt(action.amount)
          if (most <= 0n || amount > most) return "AMOUNT_EXCEEDS_REMAINING"
          const refused = this.giveBack(dispute.transfer, amount)
          if (refused !== undefined) return refused
        }
        Object.assign(dispute, { status: "resolved", resolution: action.as })
        return "resolved"
      }
      default:
        return this.streams.apply(action)
    }
  }

  /** Why other disputes of a transfer leave no room for one. */
  private whyNot(transfer: Transfer, reason: string): string | undefined {
    const others = this.disputes.filter((one) => one.transfer === transfer)
    if (others.some(({ status }) => status !== "resolved")) return "ALREADY_DISPUTED"
    const lost = others.filter(({ answered, resolution }) => answered && resolution === "no_refund")
    return lost.some((one) => one.reason === reason) ? "DISPUTE_DECIDED" : undefined
  }

  /** How much goes back of a transfer, or why nothing may. */
  private judge(transfer: Transfer, window: number, asked: number | undefined, other?: string): bigint | string {
    if (transfer.status !== "completed") return "STATE_TRANSITION_INVALID"
    if (transfer.isRefund) return "NOT_REFUNDABLE"
    if (this.now > transfer.at + window) return "REFUND_WINDOW_EXPIRED"
    if (other !== undefined) return other
    const remaining = this.remaining(transfer)
    const amount = asked === undefined ? remaining : BigInt(asked)
    return remaining <= 0n || amount > remaining ? "AMOUNT_EXCEEDS_REMAINING" : amount
  }

  /** What there is, in the words in which the platform is looked at. */
  get seen() {
    return {
      wallets: this.wallets.map(({ frozen, held, posted }) => `${posted} ${held} ${frozen}`),
      transfers: this.transfers.map(({ amount, refunded, status }) => `${amount} ${status} ${refunded}`),
      disputes: this.disputes.map(({ resolution, status }) => `${status} ${resolution}`),
      owed: this.owed.map(({ amount }) => String(amount)),
      streams: this.streams.seen
    }
  }
}
