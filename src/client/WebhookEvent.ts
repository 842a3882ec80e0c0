import type { EventType, Turnpike } from "./Contract.ts"
import type { Json } from "./Encoding.ts"
import type { AnswerOf } from "./Turnpike.ts"

/** Resources by the key under which `data` holds them, as the API answers them. */
interface Resources {
  readonly transfer: AnswerOf<Turnpike["transfers"]["get"]>
  readonly scheduled_transfer: AnswerOf<Turnpike["scheduled_transfers"]["get"]>
  readonly refund: AnswerOf<Turnpike["refunds"]["get"]>
  readonly dispute: AnswerOf<Turnpike["disputes"]["get"]>
  readonly stream: AnswerOf<Turnpike["streams"]["get"]>
  readonly webhook: AnswerOf<Turnpike["webhooks"]["get"]>
  readonly agent: AnswerOf<Turnpike["agents"]["get"]>["data"]
  readonly endpoint: AnswerOf<Turnpike["endpoints"]["get"]>["data"]
}

type Holding<Key extends keyof Resources> = { readonly [_ in Key]: Resources[Key] }

interface Alert {
  readonly alert: { readonly severity: string; readonly runway_seconds: number | null }
}

/** The key that opens an agent's sessions from now on. */
export interface KeyRotated {
  readonly agent_id: string
  readonly key_id: string
  readonly new_public_key: string
}

type DataOf<Type extends EventType> = Type extends "stream.alert"
  ? Holding<"stream"> & Alert
  : Type extends "agent.key_rotated"
    ? KeyRotated
    : Type extends `${infer Key extends keyof Resources}.${string}`
      ? Holding<Key>
      : Type extends "x402.endpoint.updated"
        ? Holding<"endpoint">
        : Json

interface Delivered<Type extends EventType> {
  /** The same in every attempt: what was handled once under this id need not be handled again. */
  readonly id: string
  readonly type: Type
  readonly created_at: string
  readonly data: DataOf<Type>
  readonly tenant_id: string
  readonly environment: "test" | "live"
}

/** A fact as a webhook delivers it. `type` tells what `data` holds; types that are new to this client arrive as well. */
export type WebhookEvent = { [Type in EventType]: Delivered<Type> }[EventType]
