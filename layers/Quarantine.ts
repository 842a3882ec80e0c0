import { Context, Duration, Effect, Layer, RcRef, type Scope, Semaphore } from "effect"
import * as FairTurns from "#services/FairTurns.ts"
import { PageReading, PageUnread } from "#services/PageReading.ts"
import { type BrowserVisit, ShopBrowser } from "#services/ShopBrowser.ts"
import type { Visit } from "#services/SiteVisits.ts"
import { visitRules } from "#services/SiteVisits/Rules.ts"
import { readerOver } from "./PageReading/Asking.ts"
import type { Task } from "./PageReading/Task.ts"
import { QuarantinePolicy } from "./Quarantine/Policy.ts"
import * as Process from "./Quarantine/Process.ts"
import { visitIn } from "./Quarantine/Visit.ts"
import { program } from "./ShopBrowser/Program.ts"
import { without } from "./ShopBrowser/Without.ts"

/**
 * What strangers wrote is read, and shown in a browser, by a process of its own, which knows no secret of the server's: whatever a page does to
 * it, money goes on moving. It starts when there is something to do, and ends when there has been nothing for a while, or with the server.
 */
export const layer = Layer.effectContext(
  Effect.gen(function* () {
    const policy = yield* QuarantinePolicy
    const rules = yield* visitRules
    const found = yield* program
    const chromium = "path" in found ? found.path : undefined
    const processes = yield* RcRef.make({ acquire: Process.start(policy, chromium), idleTimeToLive: policy.idle })
    const one = yield* Semaphore.make(1)
    let visits = 0

    /** A process that lives, for the length of the scope. One at a time looks, so that in the place of one that ended there is one. */
    const current = Effect.gen(function* () {
      const running = yield* RcRef.get(processes)
      if (running.isAlive()) return running
      yield* RcRef.invalidate(processes)
      return yield* RcRef.get(processes)
    }).pipe(one.withPermits(1))

    const readOnce = (task: Task, owner: string) =>
      Effect.scoped(Effect.flatMap(current, (running) => running.call("read", task, owner)))

    const perform = Effect.fn("Quarantine.read")(function* (task: Task) {
      // Another's page may have ended the process.
      const answer = yield* Effect.retry(readOnce(task, yield* FairTurns.Owner), { times: 1 }).pipe(
        Effect.catch(() => new PageUnread({ reason: "Ended" }))
      )
      return answer._tag === "Unread" ? yield* new PageUnread(answer) : answer
    })

    const open = Effect.fn("Quarantine.open")(function* (visit: Visit) {
      const running = yield* current
      const id = ++visits
      const { allowHosts, allowLoopback, connectTimeout, nameServers, ownHosts } = rules
      const sent = {
        allowHosts,
        allowLoopback,
        ownHosts,
        nameServers,
        connectTimeout: Duration.toMillis(connectTimeout)
      }
      // Also where nobody waits for it any more: it may have opened just then, and would keep its place for ever.
      yield* Effect.addFinalizer(() => Effect.ignore(running.call("close", id)))
      const refused = yield* running.call("open", id, visit.vantage.user_agent, sent)
      return refused === undefined ? visitIn(running, id) : without(refused.failure)
    })

    const browser = ShopBrowser.of({
      missing: Effect.succeed("missing" in found ? found.missing : undefined),
      open: (_site, visit): Effect.Effect<BrowserVisit, never, Scope.Scope> =>
        "missing" in found
          ? Effect.succeed(without(found.missing))
          : Effect.catch(open(visit), () => Effect.succeed(without("The browser of this server does not start.")))
    })
    return Context.make(PageReading, readerOver(perform)).pipe(Context.add(ShopBrowser, browser))
  })
)
