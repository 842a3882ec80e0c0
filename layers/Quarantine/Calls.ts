import type { Effect } from "effect"
import type { RequestMade } from "#domain/Scan.ts"
import type { TestShopper } from "#domain/TestShopper.ts"
import type { PageUnread } from "#services/PageReading.ts"
import type { ConnectRules } from "#services/PublicHttp/Policy.ts"
import type { Candidate, CartOutcome, CheckoutOutcome, PaymentOutcome } from "#services/ShoppingEngine/Rail.ts"
import type { Reply, Task } from "../PageReading/Task.ts"

/** An address, or a time in milliseconds, as it is sent: what goes from process to process keeps no class. */
export type SentCandidate = Omit<Candidate, "url"> & { readonly url: string | undefined }
export type SentRules = Omit<ConnectRules, "connectTimeout"> & { readonly connectTimeout: number }
export type SentPage =
  | { readonly url: string; readonly status: number; readonly html: string }
  | { readonly failure: string }

/** What became of something in a visit, with all that is known of the visit since. */
export interface Told<A> {
  readonly value: A
  readonly requests: ReadonlyArray<RequestMade>
  readonly isBroken: boolean
}

/** Where a step is done: on which rail of which visit, and as whom. Both are numbers of the server's. */
export interface RailOf {
  readonly visit: number
  readonly rail: number
  readonly shopper: TestShopper
}

/** What the server asks of the process that handles what strangers wrote. */
export interface Calls {
  /** Turns go by owner. */
  readonly read: (
    task: Task,
    owner: string
  ) => Reply | { readonly _tag: "Unread"; readonly reason: PageUnread["reason"] }
  /** Why there is no such visit, where there is none. */
  readonly open: (visit: number, userAgent: string, rules: SentRules) => { readonly failure: string } | undefined
  readonly close: (visit: number) => void
  readonly show: (visit: number, url: string) => Told<SentPage>
  readonly later: (visit: number) => Told<SentPage>
  readonly cart: (at: RailOf, candidate: SentCandidate) => Told<CartOutcome>
  readonly checkout: (at: RailOf) => Told<CheckoutOutcome>
  readonly payment: (at: RailOf) => Told<PaymentOutcome>
  readonly cleanUp: (at: RailOf) => Told<void>
}
export type Name = keyof Calls

/** What each of them does there. */
export type Handlers = {
  readonly [N in keyof Calls]: (...args: Parameters<Calls[N]>) => Effect.Effect<ReturnType<Calls[N]>>
}

/** What the server sends: a call, or that nobody waits for one any more. */
export type Sent =
  | { readonly _tag: "Call"; readonly id: number; readonly name: Name; readonly args: ReadonlyArray<unknown> }
  | { readonly _tag: "Cancel"; readonly id: number }

/** What it hears. */
export type Heard =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Answer"; readonly id: number; readonly answer: unknown }
  /** A call ended by a bug of ours, which is told in the log. */
  | { readonly _tag: "Died"; readonly id: number }
  | { readonly _tag: "Log"; readonly level: "Warn" | "Error"; readonly message: string; readonly details: unknown }
  /** A checkout of this visit is in doubt from now on, or no longer. */
  | { readonly _tag: "Doubt"; readonly visit: number; readonly isOpen: boolean }
