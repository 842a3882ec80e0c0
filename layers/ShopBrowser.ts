import { Effect, Layer } from "effect"
import { PageReading } from "#services/PageReading.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import { visitRules } from "#services/SiteVisits/Rules.ts"
import { BrowserFailed } from "./ShopBrowser/Chromium.ts"
import * as Chromium from "./ShopBrowser/Chromium.ts"
import { program } from "./ShopBrowser/Program.ts"
import * as Tab from "./ShopBrowser/Tab.ts"
import { visitOf } from "./ShopBrowser/Visit.ts"
import { without } from "./ShopBrowser/Without.ts"

/**
 * The system's Chromium, where there is one, driven by this process: `TURNPIKE_CHROMIUM` names it, and `off` is none. It starts with the
 * first visit that needs it, and never outlives this process. A server has it driven elsewhere: `Quarantine.ts`.
 */
export const layer = Layer.effect(
  ShopBrowser,
  Effect.gen(function* () {
    const found = yield* program
    const rules = yield* visitRules
    const pages = yield* PageReading
    const missing = "missing" in found ? found.missing : undefined
    const none: Tab.NewContext = () => new BrowserFailed({ reason: "NotStarted", message: missing ?? "" })
    const { open }: { open: Tab.NewContext } = "path" in found ? yield* Chromium.make(found.path) : { open: none }
    return ShopBrowser.of({
      missing: Effect.succeed(missing),
      open: (_site, visit) =>
        Tab.open(open, rules, visit.vantage.user_agent, pages).pipe(
          Effect.map((tab) => visitOf(tab)),
          Effect.catch(({ message }) => Effect.succeed(without(message)))
        )
    })
  })
)
