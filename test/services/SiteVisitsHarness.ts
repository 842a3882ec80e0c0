import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { SiteVisits, type SiteRequest, type Visit, type VisitLimits } from "#services/SiteVisits.ts"
import { SiteVisitsPolicy } from "#services/SiteVisits/Policy.ts"

const cleanups: Array<() => unknown> = []

/** Closes everything a test opened. */
export const closeVisits = async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

const deployment = {
  environment: "sandbox",
  publicUrl: "https://turnpike.test",
  scannerUrl: "https://scanner.turnpike.test"
} as const

/** Enough for any test that is not about limits, on any machine. */
export const limits: VisitLimits = {
  requests: 24,
  duration: Duration.minutes(2),
  perRequest: Duration.minutes(1),
  pace: Duration.zero,
  concurrency: 4
}

export interface Surroundings {
  readonly rules?: Partial<PublicHttpPolicy>
  readonly policy?: Partial<SiteVisitsPolicy>
}

/** The service over its real parts; only loopback fixtures that are listed may be visited. */
export const siteVisits = Effect.fnUntraced(function* ({ policy = {}, rules = {} }: Surroundings) {
  const chosen = Layer.mergeAll(
    Layer.succeed(Deployment, deployment),
    Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), ...rules }),
    Layer.succeed(SiteVisitsPolicy, {
      ...SiteVisitsPolicy.defaultValue(),
      connectTimeout: Duration.minutes(1),
      ...policy
    })
  )
  return Context.get(yield* Layer.build(SiteVisits.layer.pipe(Layer.provide(chosen))), SiteVisits)
})

export interface Opened extends Surroundings {
  readonly limits?: Partial<VisitLimits>
}

/** A visit of a listed fixture. */
export const opened = Effect.fnUntraced(function* (domain: string, options: Opened = {}) {
  const allowHosts = [domain, ...(options.rules?.allowHosts ?? [])]
  const visits = yield* siteVisits({ ...options, rules: { ...options.rules, allowHosts } })
  return yield* visits.open(visits.locate(domain), { ...limits, ...options.limits })
})

/** The same outside Effect, until the test ends. */
export const visitOf = (domain: string, options: Opened = {}): Promise<Visit> => {
  const scope = Scope.makeUnsafe()
  cleanups.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.runPromise(Scope.provide(opened(domain, options), scope))
}

/** What an ask came to: the status, or why there was none. */
export const told = async (visit: Visit, request: SiteRequest | string) => {
  const outcome = await Effect.runPromise(visit.ask(typeof request === "string" ? { url: request } : request))
  return outcome._tag === "Answered" ? String(outcome.status) : outcome.reason
}

/** The answer itself, where there has to be one. */
export const answered = async (visit: Visit, request: SiteRequest | string) => {
  const outcome = await Effect.runPromise(visit.ask(typeof request === "string" ? { url: request } : request))
  if (outcome._tag === "NoAnswer") throw new Error(`${outcome.reason}: ${outcome.detail}`)
  return outcome
}
