import type { EventType, Turnpike } from "./Contract.ts"
import type { Json } from "./Encoding.ts"
import type { AnswerOf } from "./Turnpike.ts"

/** A batch as it ended: without its items, which are read where it is, and with what it moved. */
interface EndedBatch {
  readonly id: string
  readonly batch_id: string
  readonly total: number
  readonly completed: number
  readonly failed: number
  readonly replayed: number
  readonly status: AnswerOf<Turnpike["batches"]["get"]>["status"]
  /** The sums per currency, as decimals. */
  readonly amounts: ReadonlyArray<{ readonly currency: string; readonly completed: string; readonly failed: string }>
  readonly created_at: string
}

/** Resources by the key under which `data` holds them, as the API answers them. */
interface Resources {
  readonly transfer: AnswerOf<Turnpike["transfers"]["get"]>
  readonly batch: EndedBatch
  readonly scheduled_transfer: AnswerOf<Turnpike["scheduled_transfers"]["get"]>
  readonly refund: AnswerOf<Turnpike["refunds"]["get"]>
  readonly dispute: AnswerOf<Turnpike["disputes"]["get"]>
  readonly stream: AnswerOf<Turnpike["streams"]["get"]>
  readonly webhook: AnswerOf<Turnpike["webhooks"]["get"]>
  readonly agent: AnswerOf<Turnpike["agents"]["get"]>["data"]
  readonly endpoint: AnswerOf<Turnpike["endpoints"]["get"]>["data"]
  readonly payment: AnswerOf<Turnpike["endpoints"]["payments"]>["data"][number]
  /** Without what is long: that is read where it is. */
  readonly scan: Omit<AnswerOf<Turnpike["scans"]["get"]>, "checks" | "requests">
  readonly test: Omit<AnswerOf<Turnpike["shopping_tests"]["get"]>, "requests">
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
      : Type extends `x402.${infer Key extends keyof Resources}.${string}`
        ? Holding<Key>
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
