import { Effect } from "effect"
import type { RequestMade } from "#domain/Scan.ts"
import type { BrowserVisit, ShownPage } from "#services/ShopBrowser.ts"
import { orderUncertain, unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Candidate, Rail } from "#services/ShoppingEngine/Rail.ts"
import type { SentCandidate, SentPage, Told } from "./Calls.ts"
import type { Process, ProcessEnded } from "./Process.ts"

const ended = "The browser of this server ended."

const sentCandidate = ({ url, ...candidate }: Candidate): SentCandidate => ({ ...candidate, url: url?.href })
const shownPage = (page: SentPage): ShownPage | { readonly failure: string } =>
  "failure" in page ? page : { ...page, url: new URL(page.url) }

/** An open visit of a browser that another process drives. When that ends nothing is said of the site, but for a checkout in doubt. */
export const visitIn = (running: Process, id: number): BrowserVisit => {
  const known: { requests: ReadonlyArray<RequestMade>; isBroken: boolean } = { requests: [], isBroken: false }
  let rails = 0
  const done = <A, B>(told: Effect.Effect<Told<A>, ProcessEnded>, make: (value: A) => B, otherwise: () => B) =>
    told.pipe(
      Effect.map(({ isBroken, requests, value }) => {
        Object.assign(known, { isBroken, requests })
        return make(value)
      }),
      Effect.catch(() =>
        Effect.sync(() => {
          known.isBroken = true
          return otherwise()
        })
      )
    )
  const same = <A>(value: A): A => value
  const unshown = () => ({ failure: ended })

  const rail: BrowserVisit["rail"] = (shopper): Rail => {
    const at = { visit: id, rail: ++rails, shopper }
    return {
      name: "browser",
      cart: (candidate) =>
        done(running.call("cart", at, sentCandidate(candidate)), same, () => ({ ...unknown(ended), price: null })),
      checkout: done(running.call("checkout", at), same, () => ({
        ...unknown(ended, null, running.isInDoubt(id) ? [orderUncertain("checkout", null)] : []),
        total: null
      })),
      payment: done(running.call("payment", at), same, () => ({ ...unknown(ended), methods: [] })),
      cleanUp: done(running.call("cleanUp", at), same, () => undefined)
    }
  }
  return {
    show: (url) => done(running.call("show", id, url.href), shownPage, unshown),
    later: done(running.call("later", id), shownPage, unshown),
    rail,
    requests: () => known.requests,
    isBroken: () => known.isBroken || !running.isAlive()
  }
}
