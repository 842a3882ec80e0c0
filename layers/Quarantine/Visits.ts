import { Duration, Effect, Exit, Scope } from "effect"
import type { PageReading } from "#services/PageReading.ts"
import type { BrowserVisit, ShownPage } from "#services/ShopBrowser.ts"
import type { Rail } from "#services/ShoppingEngine/Rail.ts"
import type { Doubt } from "../ShopBrowser/CheckoutWalk.ts"
import * as Chromium from "../ShopBrowser/Chromium.ts"
import * as Tab from "../ShopBrowser/Tab.ts"
import { visitOf } from "../ShopBrowser/Visit.ts"
import type { Handlers, RailOf, SentPage, Told } from "./Calls.ts"
import { say } from "./Saying.ts"

const sentPage = (page: ShownPage | { readonly failure: string }): SentPage =>
  "failure" in page ? page : { ...page, url: page.url.href }

/** A doubt that the server hears of at once: when this process ends it may be all that is known of a checkout. */
const toldDoubt = (visit: number): Doubt => {
  let now = false
  return {
    get isOpen() {
      return now
    },
    set isOpen(isOpen) {
      if (isOpen !== now) say({ _tag: "Doubt", visit, isOpen })
      now = isOpen
    }
  }
}

interface Opened {
  readonly scope: Scope.Closeable
  readonly visit: BrowserVisit
  readonly rails: Map<number, Rail>
}

/** What is asked of visits in a browser, done here; `chromium` is the browser's program. */
export const make = Effect.fnUntraced(function* (chromium: string, pages: PageReading["Service"]) {
  const browser = yield* Chromium.make(chromium)
  const visits = new Map<number, Opened>()

  /** The server asks nothing of a visit before it is open, or when it is closed. */
  const opened = (visit: number): Effect.Effect<Opened> => {
    const found = visits.get(visit)
    return found === undefined ? Effect.die(new Error(`Visit ${visit} is not open`)) : Effect.succeed(found)
  }
  const told = <A, B = A>(id: number, step: (opened: Opened) => Effect.Effect<A>, sent: (done: A) => B) =>
    Effect.flatMap(opened(id), (found) =>
      Effect.map(
        step(found),
        (done): Told<B> => ({
          value: sent(done),
          requests: found.visit.requests(),
          isBroken: found.visit.isBroken()
        })
      )
    )
  const same = <A>(done: A): A => done
  const onRail = <A>({ rail, shopper, visit: id }: RailOf, step: (rail: Rail) => Effect.Effect<A>) =>
    told(
      id,
      ({ rails, visit }) => {
        const known = rails.get(rail) ?? visit.rail(shopper)
        rails.set(rail, known)
        return step(known)
      },
      same
    )

  const made: Omit<Handlers, "read"> = {
    open: Effect.fnUntraced(function* (id, userAgent, rules) {
      const scope = yield* Scope.make()
      const connecting = { ...rules, connectTimeout: Duration.millis(rules.connectTimeout) }
      const opening = Tab.open(browser.open, connecting, userAgent, pages).pipe(
        Scope.provide(scope),
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
        Effect.map((tab) => {
          visits.set(id, { scope, visit: visitOf(tab, () => toldDoubt(id)), rails: new Map() })
          return undefined
        })
      )
      return yield* Effect.catch(opening, ({ message }) => Effect.succeed({ failure: message }))
    }),
    close: (id) =>
      Effect.suspend(() => {
        const found = visits.get(id)
        visits.delete(id)
        say({ _tag: "Doubt", visit: id, isOpen: false })
        return found === undefined ? Effect.void : Scope.close(found.scope, Exit.void)
      }),
    show: (id, url) => told(id, ({ visit }) => visit.show(new URL(url)), sentPage),
    later: (id) => told(id, ({ visit }) => visit.later, sentPage),
    cart: (at, { url, ...candidate }) =>
      onRail(at, (rail) => rail.cart({ ...candidate, url: url === undefined ? undefined : new URL(url) })),
    checkout: (at) => onRail(at, ({ checkout }) => checkout),
    payment: (at) => onRail(at, ({ payment }) => payment),
    cleanUp: (at) => onRail(at, ({ cleanUp }) => cleanUp)
  }
  yield* Effect.addFinalizer(() =>
    Effect.forEach([...visits.values()], ({ scope }) => Scope.close(scope, Exit.void), { concurrency: 8 })
  )
  return made
})
