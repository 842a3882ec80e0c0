import { shared } from "./Money.ts"
import type { Terms } from "./Terms.ts"

const rate = "Money per second, a decimal string: `0.000385802469135802` is about 1,000 in 30 days"
const buffer = "kept back, never flows, and goes back to the sender when the stream is cancelled"

/** Of money streams. */
export const streams: Terms = {
  MoneyStream: {
    from_wallet_id: "The wallet that pays: the sender's",
    to_wallet_id: "The wallet that money is withdrawn to: the recipient's",
    flow_rate: rate,
    currency: "Of all amounts here, and what both wallets hold",
    status: "`active`: flows. `paused`: nothing accrues, what has may be withdrawn. `cancelled`: ended for good",
    pause_reason:
      "`requested`: a caller paused it. `exhausted`: all that could flow has, and it paused by itself; it stays so after a " +
      "top-up until it is resumed. Null unless `paused`",
    deposited:
      "All that was ever paid into it: `wrapped_balance` + `buffer` + `recipient_balance` + `withdrawn` + `returned` at any time",
    wrapped_balance: "What may still flow",
    buffer: `What is ${buffer}; 0.00 then`,
    recipient_balance: "What has accrued and may be withdrawn, rounded down to a micro-unit",
    withdrawn: "All that was paid out to the recipient",
    returned: "What went back to the sender when it was cancelled; 0.00 until then",
    runway_seconds:
      "How many whole seconds `wrapped_balance` lasts at `flow_rate`, while paused as if it flowed; at most 9007199254740991",
    exhausted_at:
      "While `active`, when all will have flowed, null if that is after the year 9999; once it has run dry, when that was; " +
      "null while paused otherwise, and once cancelled",
    latest_transfer_id: "The transfer of the last money that moved: deposit, top-up, withdrawal or return",
    metadata: shared.metadataShown,
    updated_at: "When something was last done to it, it ran dry or gave an alert; what accrues does not change it",
    cancelled_at: "When it was cancelled; null until then"
  },
  ChangeStreamRate: { flow_rate: `${rate}. Counts from now on` },
  "streams.create": {
    from_wallet_id: "The wallet that pays",
    to_wallet_id: "The wallet that money is withdrawn to, on the network of the other",
    flow_rate: rate,
    initial_deposit: "What is taken from the paying wallet into the stream at once, `buffer` included",
    currency: "Of all amounts; both wallets must hold it. `USDC` when left out",
    buffer: `The part of \`initial_deposit\`, less than all of it, that is ${buffer}; 0 when left out`,
    metadata: shared.metadata
  },
  "streams.list": {
    status: "Only streams of this status",
    from_wallet_id: "Only streams that this wallet pays into",
    to_wallet_id: "Only streams that are withdrawn to this wallet"
  },
  "streams.top_up": {
    amount: "What is taken from the paying wallet into the stream; all of it may flow",
    memo: shared.memo
  },
  "streams.withdraw": {
    amount: "What the recipient gets, at most `recipient_balance`; all of that when left out",
    memo: shared.memo
  },
  "streams.cancel": {
    memo: "Free text kept with the transfers to the recipient and back to the sender; none when left out"
  }
}
