import type { Action } from "./Actions.ts"

interface Stream {
  readonly from: number
  readonly to: number
  readonly buffer: bigint
  rate: bigint
  deposited: bigint
  withdrawn: bigint
  /** In 10^-21 units: a rate in 10^-18 units a second times milliseconds. */
  accrued: bigint
  status: "active" | "paused" | "cancelled"
}

type StreamAction = Extract<Action, { readonly stream: number } | { readonly do: "stream" }>

const micro = 10n ** 15n

/** The part of the model that is about streams. */
export class Streams {
  readonly all: Array<Stream> = []
  private readonly pay: (from: number, amount: bigint) => string | undefined
  private readonly receive: (to: number, amount: bigint) => void

  /** `pay` says why a wallet cannot pay; undefined when it has paid. */
  constructor(pay: Streams["pay"], receive: Streams["receive"]) {
    this.pay = pay
    this.receive = receive
  }

  private withdrawable({ accrued, withdrawn }: Stream): bigint {
    return accrued / micro - withdrawn
  }
  private most({ buffer, deposited }: Stream): bigint {
    return (deposited - buffer) * micro
  }

  pass(millis: number): void {
    for (const stream of this.all.filter(({ status }) => status === "active")) {
      stream.accrued += stream.rate * BigInt(millis)
      if (stream.accrued < this.most(stream)) continue
      stream.accrued = this.most(stream)
      stream.status = "paused"
    }
  }

  apply(action: StreamAction): string {
    if (action.do === "stream") return this.open(action)
    const stream = this.all[action.stream % this.all.length]
    if (stream === undefined) return "none"
    return stream.status === "cancelled" ? "STATE_TRANSITION_INVALID" : (this.change(stream, action) ?? stream.status)
  }

  private open({ between: [from, to], rate, ...given }: Extract<Action, { readonly do: "stream" }>): string {
    const [deposited, buffer] = [BigInt(given.amount), BigInt(given.buffer)]
    if (from === to) return "SAME_WALLET"
    if (buffer >= deposited) return "BUFFER_TOO_LARGE"
    const refused = this.pay(from, deposited)
    if (refused !== undefined) return refused
    this.all.push({ from, to, rate, buffer, deposited, withdrawn: 0n, accrued: 0n, status: "active" })
    return "active"
  }

  /** Why it cannot be done; undefined when it was. */
  private change(stream: Stream, action: Exclude<StreamAction, { readonly do: "stream" }>): string | undefined {
    switch (action.do) {
      case "top_up": {
        const refused = this.pay(stream.from, BigInt(action.amount))
        if (refused === undefined) stream.deposited += BigInt(action.amount)
        return refused
      }
      case "withdraw": {
        const most = this.withdrawable(stream)
        if (action.amount === undefined && most === 0n) return "NOTHING_ACCRUED"
        const amount = action.amount === undefined ? most : BigInt(action.amount)
        if (amount > most) return "AMOUNT_EXCEEDS_ACCRUED"
        stream.withdrawn += amount
        this.receive(stream.to, amount)
        return undefined
      }
      case "pause":
      case "resume": {
        if (stream.status !== (action.do === "pause" ? "active" : "paused")) return "STATE_TRANSITION_INVALID"
        if (action.do === "resume" && stream.accrued >= this.most(stream)) return "STREAM_EXHAUSTED"
        stream.status = action.do === "pause" ? "paused" : "active"
        return undefined
      }
      case "rate":
        stream.rate = action.rate
        return undefined
      case "cancel": {
        const paid = this.withdrawable(stream)
        stream.withdrawn += paid
        this.receive(stream.to, paid)
        this.receive(stream.from, stream.deposited - stream.withdrawn)
        stream.status = "cancelled"
        return undefined
      }
    }
  }

  get seen(): ReadonlyArray<string> {
    return this.all.map((stream) => {
      const { buffer, deposited, status, withdrawn } = stream
      const [returned, accrued] = [status === "cancelled" ? deposited - withdrawn : 0n, this.withdrawable(stream)]
      const rest = status === "cancelled" ? 0n : deposited - withdrawn - accrued - buffer
      return [status, deposited, withdrawn, returned, accrued, rest].join(" ")
    })
  }
}
