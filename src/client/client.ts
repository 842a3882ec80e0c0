/** What an agent installs: a `fetch` that pays, and the typed API. Nothing but web standards, no dependency. */
export type { Asset } from "./Asset.ts"
export { memoryStore, type SpendingStore } from "./Budget.ts"
export type { Offer } from "./Means.ts"
export {
  payingFetch,
  type PayingFetchOptions,
  type SignerPaying,
  type Spent,
  type WalletPaying
} from "./payingFetch.ts"
export { PaymentError, type PaymentErrorCode } from "./PaymentError.ts"
export { type Receipt, receiptOf } from "./Receipt.ts"
export type { Signer, TransferAuthorization } from "./SignerMeans.ts"
export type { CallOptions } from "./Transport.ts"
export type { AnswerOf, RequestOf, Turnpike } from "./Contract.ts"
export { turnpike, type TurnpikeOptions } from "./Turnpike.ts"
export { TurnpikeError } from "./TurnpikeError.ts"
