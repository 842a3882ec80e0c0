/**
 * What a user installs: a `fetch` that pays, the typed API, the proof that a webhook is ours, and the events of an agent. Nothing
 * but web standards, no dependency.
 */
export { agentChannel, type AgentChannel, type AgentChannelOptions } from "./agentChannel.ts"
export type { AgentProof } from "./AgentSession.ts"
export type { Asset } from "./Asset.ts"
export { memoryStore, type SpendingStore } from "./Budget.ts"
export type { Offer } from "./Means.ts"
export type { ChannelEvent, ChannelEventType } from "./ChannelEvent.ts"
export type { Retry } from "./Listening.ts"
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
export type { Turnpike } from "./Contract.ts"
export type { JsonValue } from "./Encoding.ts"
export { type AnswerOf, type RequestOf, turnpike, type TurnpikeOptions } from "./Turnpike.ts"
export { TurnpikeError } from "./TurnpikeError.ts"
export { type VerifyWebhookOptions, verifyWebhook, type WebhookDelivery } from "./verifyWebhook.ts"
export type { WebhookEvent } from "./WebhookEvent.ts"
export type { WebhookHeaders } from "./WebhookSignatures.ts"
export { WebhookVerificationError, type WebhookVerificationReason } from "./WebhookVerificationError.ts"
