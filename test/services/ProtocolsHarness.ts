import { Duration, Effect, type Scope } from "effect"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { calls, documents, type ProtocolFindings, type Surroundings } from "#services/ScanEngine/Protocols.ts"
import { SiteVisits, type Visit, type VisitLimits } from "#services/SiteVisits.ts"
import { Context, Layer } from "effect"
import type { Protocol } from "../../src/domain/Scan.ts"
import type { QuestionId } from "../../src/domain/Rubric.ts"

const limits: VisitLimits = {
  requests: 24,
  // As long as a busy machine needs: what a site is must not depend on it.
  duration: Duration.minutes(1),
  perRequest: Duration.minutes(1),
  pace: Duration.zero,
  concurrency: 4
}
const deployment = {
  environment: "sandbox",
  publicUrl: "https://turnpike.test",
  scannerUrl: "https://scanner.turnpike.test"
} as const

/** A visit of a fixture over the real service; only listed hosts may be visited. */
export const visit = (
  domain: string,
  changed: Partial<VisitLimits> = {},
  others: ReadonlyArray<string> = []
): Effect.Effect<Visit, never, Scope.Scope> =>
  Effect.gen(function* () {
    const chosen = Layer.mergeAll(
      Layer.succeed(Deployment, deployment),
      Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowHosts: [domain, ...others] })
    )
    const visits = Context.get(yield* Layer.build(SiteVisits.layer.pipe(Layer.provide(chosen))), SiteVisits)
    return yield* visits.open(visits.locate(domain), { ...limits, ...changed })
  })

interface Seen {
  readonly findings: ProtocolFindings
  readonly asked: ReadonlyArray<string>
  /** `status share?` of a question. */
  status(id: QuestionId): string
  message(id: QuestionId): string
  protocol(name: Protocol): string
  problems(name: Protocol): ReadonlyArray<string>
}

/** What the probes find at a fixture. */
export const look = (
  fixture: { readonly domain: string; readonly asked: ReadonlyArray<string> },
  around: Partial<Omit<Surroundings, "visit">> = {},
  changed: Partial<VisitLimits> = {},
  others: ReadonlyArray<string> = []
) =>
  Effect.gen(function* () {
    const surroundings = { home: undefined, platform: null, hasSoftNotFound: false, isRetail: true, ...around }
    const opened = yield* visit(fixture.domain, changed, others)
    const findings = yield* calls({ ...surroundings, visit: opened }, yield* documents(opened))
    const answered = (id: QuestionId) => findings.answers.filter((answer) => answer.id === id)
    const told = (name: Protocol) => findings.results.filter(({ protocol }) => protocol === name)
    const seen: Seen = {
      findings,
      asked: fixture.asked,
      status: (id) =>
        answered(id)
          .map(({ share, status }) => (share === undefined ? status : `${status} ${share}`))
          .join(),
      message: (id) =>
        answered(id)
          .map(({ message }) => message)
          .join(),
      protocol: (name) =>
        told(name)
          .map(({ status }) => status)
          .join(),
      problems: (name) => told(name).flatMap(({ problems }) => problems)
    }
    return seen
  })
