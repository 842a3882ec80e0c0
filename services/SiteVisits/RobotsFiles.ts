import { Deferred, Effect, type Scope } from "effect"
import { isNamed, type Robots, robotsOf, robotsVerdict } from "#domain/Robots.ts"
import type { Turn } from "./Budget.ts"
import { NoExchange } from "./Exchange.ts"
import { agentName } from "./Vantages.ts"
import type { SiteOutcome, SiteRequest } from "./Visit.ts"

const keptOut = (detail: string) => Effect.fail(new NoExchange({ reason: "robots", detail }))

/**
 * The robots.txt of each site that one visit comes to, and what they forbid us. Rules for everybody bind who crawls; rules that name us
 * bind whatever we ask, once they are known.
 */
export const robotsFiles = (
  most: number,
  scope: Scope.Scope,
  get: (file: URL, turn: Turn) => Effect.Effect<SiteOutcome>
) => {
  const files = new Map<string, Deferred.Deferred<SiteOutcome>>()
  const known = new Map<string, { readonly robots: Robots; readonly status: number }>()

  /** The file of a site, asked for once however many want it. */
  const fileOf = (origin: string, turn: Turn): Effect.Effect<SiteOutcome, NoExchange> =>
    Effect.suspend(() => {
      const asked = files.get(origin)
      if (asked !== undefined) return Deferred.await(asked)
      if (files.size >= most) return keptOut("this visit leads to too many sites")
      const file = Deferred.makeUnsafe<SiteOutcome>()
      files.set(origin, file)
      return get(new URL("/robots.txt", origin), turn).pipe(
        Effect.tap((found) =>
          Effect.sync(() => {
            if (found._tag === "NoAnswer") return
            known.set(origin, { robots: robotsOf(found.status, found.text), status: found.status })
          })
        ),
        Effect.onExit((exit) => Deferred.done(file, exit)),
        // Of the visit, not of whoever asked first and may go away.
        Effect.forkIn(scope),
        Effect.andThen(Deferred.await(file))
      )
    })

  /** Reads the file first, where who asks wants that. What cannot be read allows who crawls nothing, and names nobody. */
  const readFirst = Effect.fnUntraced(function* (origin: string, obeys: SiteRequest["obeysRobots"], turn: Turn) {
    if (obeys === "named") return yield* Effect.ignore(fileOf(origin, turn))
    if (obeys !== true) return
    const file = yield* fileOf(origin, turn)
    // RFC 9309, 2.3.1.2: one that only leads elsewhere is not there.
    if (file._tag === "Answered" || file.reason === "too_many_redirects") return
    return yield* Effect.fail(new NoExchange(file))
  })

  /** Fails where robots.txt keeps us out. */
  const permitted = Effect.fnUntraced(function* (url: URL, { obeysRobots }: SiteRequest, turn: Turn) {
    yield* readFirst(url.origin, obeysRobots, turn)
    const file = known.get(url.origin)
    if (file === undefined || (obeysRobots !== true && !isNamed(file.robots, agentName))) return
    const { isAllowed, rule } = robotsVerdict(file.robots, agentName, url.pathname + url.search)
    if (isAllowed) return
    const line = rule === null ? `it answers ${file.status}` : `Disallow: ${rule.pattern.slice(0, 200)}`
    // A site that redirects has several.
    return yield* keptOut(`${line} (${url.origin}/robots.txt)`)
  })

  return { fileOf, permitted }
}
