import { Effect, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import { EventBus } from "../EventBus.ts"
import type { Kind } from "./Claims.ts"
import { ScanPolicy } from "./Policy.ts"

/** Word, among all processes, that work of a kind on a domain has come to an end. It may be lost. */
export const make = Effect.fnUntraced(function* (kind: Kind) {
  const sql = yield* SqlClient.SqlClient
  const bus = yield* EventBus
  const { poll } = yield* ScanPolicy
  const subject = `scanner.ended.${kind}`
  return {
    /** Within a transaction after its commit, also where the bus would not wait for that: whoever hears of it looks. */
    tell: (domain: string) => sql.afterCommit(bus.publish(subject, domain)),
    listen: bus.subscribe(subject),
    /** Until work on the domain has ended; or it is time to look. */
    waitFor: (ended: PubSub.Subscription<string>, domain: string) =>
      PubSub.take(ended).pipe(
        Effect.repeat({ until: (one) => one === domain || one === "" }),
        Effect.timeoutOption(poll),
        Effect.asVoid
      )
  }
})
