import { Effect } from "effect"
import type { BrowserVisit } from "#services/ShopBrowser.ts"
import { unknown } from "#services/ShoppingEngine/Outcomes.ts"
import type { Rail } from "#services/ShoppingEngine/Rail.ts"

/** The visit of a browser that cannot be had: every answer says why. */
export const without = (reason: string): BrowserVisit => {
  const why = unknown(reason)
  const rail: Rail = {
    name: "browser",
    cart: () => Effect.succeed({ ...why, price: null }),
    checkout: Effect.succeed({ ...why, total: null }),
    payment: Effect.succeed({ ...why, methods: [] }),
    cleanUp: Effect.void
  }
  const failure = Effect.succeed({ failure: reason })
  return { show: () => failure, later: failure, rail: () => rail, requests: () => [], isBroken: () => true }
}
