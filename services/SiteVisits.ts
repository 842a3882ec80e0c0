import { Context, Effect, Layer, type Scope, Semaphore } from "effect"
import { Agent } from "undici"
import { homeOf } from "#domain/MerchantDomain.ts"
import { Deployment } from "./Deployment.ts"
import { guardedConnector } from "./PublicHttp/GuardedConnector.ts"
import { Memory } from "./SiteVisits/Memory.ts"
import { SiteVisitsPolicy } from "./SiteVisits/Policy.ts"
import { visitRules } from "./SiteVisits/Rules.ts"
import { agentLine } from "./SiteVisits/Vantages.ts"
import type { Site, Visit, VisitLimits } from "./SiteVisits/Visit.ts"
import { type Shared, visit } from "./SiteVisits/Visiting.ts"

export type { Challenge } from "#domain/page/Challenge.ts"
export { isReadOut, refusalOf } from "./SiteVisits/Failure.ts"
export type { NoAnswer, Site, SiteAnswer, SiteOutcome, SiteRequest, Visit, VisitLimits } from "./SiteVisits/Visit.ts"

/** Goes to merchants' sites: guarded, paced, within a budget, under our own name. */
export class SiteVisits extends Context.Service<
  SiteVisits,
  {
    /** Where a normalised domain is: `https://{domain}/`, or where the deployment lists it. */
    locate(domain: string): Site
    /** A visit ends with its scope: its connections are closed and its cookies forgotten. Its time begins when it has a place. */
    open(site: Site, limits: VisitLimits): Effect.Effect<Visit, never, Scope.Scope>
  }
>()("turnpike/services/SiteVisits") {
  static readonly layer = Layer.effect(
    SiteVisits,
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      const policy = yield* SiteVisitsPolicy
      const connect = guardedConnector(yield* visitRules)
      const places = yield* Semaphore.make(policy.visits)
      const shared: Shared = {
        policy,
        vantage: { user_agent: agentLine(publicUrl), network: `direct, from ${new URL(publicUrl).hostname}` },
        profiles: `${publicUrl}/ucp/agents`,
        requests: yield* Semaphore.make(policy.requests),
        decoders: yield* Semaphore.make(policy.decoders),
        underWay: new Memory(policy.bytesUnderWay, policy.smallBody),
        kept: new Memory(policy.keptBytes, policy.smallVisit)
      }

      const open = Effect.fn("SiteVisits.open")(function* (site: Site, limits: VisitLimits) {
        yield* Semaphore.takeScoped(places, 1)
        // Of its own, so that nothing of a visit outlives it, and two visits of a site are not told apart by a connection.
        const agent = yield* Effect.acquireRelease(
          Effect.sync(
            () =>
              new Agent({
                connect,
                connections: limits.concurrency,
                maxHeaderSize: policy.headerBytes,
                pipelining: 1,
                allowH2: false
              })
          ),
          (agent) => Effect.promise(() => agent.destroy())
        )
        return yield* visit(site, limits, agent, shared)
      })

      return SiteVisits.of({ locate: (domain) => ({ domain, home: homeOf(domain) }), open })
    })
  )
}
