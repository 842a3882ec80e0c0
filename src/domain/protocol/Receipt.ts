// What became of a payment, as each protocol tells it in the headers of the answer.
import type { DateTime } from "effect"
import { caip2, type Network } from "../Network.ts"
import { receiptHeader } from "./Mpp.ts"
import { v1Networks } from "./X402Offers.ts"

/** Base64 of JSON, as every header of x402 is written. */
const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64")

export interface Receipt {
  /** Where the chain shows it; our own id for payments that have nothing to do with one. */
  readonly transaction: string
  readonly network: Network
  readonly payer: string
  /** Micro-units; undefined while the answer already streams and the price is still being settled. */
  readonly charged: bigint | undefined
  readonly protocol: "native" | "x402v2" | "x402v1" | "mpp"
  readonly at: DateTime.Utc
  /** MPP: the id of the challenge that was answered. */
  readonly challenge?: string | undefined
  /** Of the answer that it goes with. */
  readonly status: number
}

/** Name, value, name, value. A client of a protocol gets its own; our own flow gets both generations of x402. */
export const receiptHeaders = (receipt: Receipt): ReadonlyArray<string> => {
  const { charged, network, payer, protocol, transaction } = receipt
  if (protocol === "mpp") {
    // MPP has no receipt for an error, not even for one that was paid for.
    return receipt.status < 400 ? ["Payment-Receipt", receiptHeader({ ...receipt, reference: transaction })] : []
  }
  const rest = { payer, ...(charged === undefined ? {} : { amount: String(charged) }) }
  const settled = (name: string) => encode({ success: true, transaction, network: name, ...rest })
  const v2 = ["PAYMENT-RESPONSE", settled(caip2[network])]
  return protocol === "x402v2" ? v2 : [...v2, "X-PAYMENT-RESPONSE", settled(v1Networks[network])]
}

/** The same for a payment that was refused. */
export const failureHeaders = (network: Network, errorReason: string): ReadonlyArray<string> => {
  const failed = (name: string) => encode({ success: false, errorReason, transaction: "", network: name })
  return ["PAYMENT-RESPONSE", failed(caip2[network]), "X-PAYMENT-RESPONSE", failed(v1Networks[network])]
}
