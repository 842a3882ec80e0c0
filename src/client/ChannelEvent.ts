import type { ChannelEventName, Turnpike } from "./Contract.ts"
import type { Json } from "./Encoding.ts"
import type { Frame } from "./EventFrames.ts"
import { parseJson } from "./Encoding.ts"
import type { AnswerOf } from "./Turnpike.ts"
import type { KeyRotated } from "./WebhookEvent.ts"

/** What an agent is told, without what the connection says of itself. */
export type ChannelEventType = Exclude<
  ChannelEventName,
  "connected" | "heartbeat" | "reconnect_required" | "superseded"
>

/** What `data` holds, where it is more than a record of names. */
interface Data {
  readonly transfer_completed: {
    readonly transfer_id: string
    /** What left the agent's wallet or arrived there, in that wallet's currency. */
    readonly amount: string
    readonly currency: string
    readonly direction: "inbound" | "outbound"
    readonly wallet_id: string
    readonly transfer: AnswerOf<Turnpike["transfers"]["get"]>
  }
  readonly stream_alert: {
    readonly stream: AnswerOf<Turnpike["streams"]["get"]>
    readonly alert: { readonly severity: string; readonly runway_seconds: number | null }
  }
  readonly key_rotated: KeyRotated
  /** Events between these two are lost: the server has them no more. Ask for what matters. */
  readonly resync: { readonly reason: string; readonly from: string | null; readonly to: string | null }
}

interface Told<Type extends ChannelEventType> {
  /** Where to resume once it was handled; undefined for what cannot be resumed at. */
  readonly id: string | undefined
  readonly type: Type
  readonly data: Type extends keyof Data ? Data[Type] : Json
}

/** An event of an agent's channel. `type` tells what `data` holds; types that are new to this client arrive as well. */
export type ChannelEvent = { [Type in ChannelEventType]: Told<Type> }[ChannelEventType]

/** An id that can travel back in a header; any other is none. */
export const resumable = (id: string | undefined): string | undefined =>
  id !== undefined && /^[\x21-\x7e]{1,255}$/.test(id) ? id : undefined

export const eventOf = ({ data, event, id }: Frame): ChannelEvent =>
  // Its form is the server's promise.
  ({ id: resumable(id), type: event, data: parseJson(data) ?? {} }) as ChannelEvent
