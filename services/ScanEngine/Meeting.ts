import { Effect } from "effect"
import { readContentSignals } from "#domain/page/ContentSignals.ts"
import { isMarkup, isNamed, type Robots, robotsAllows, robotsOf } from "#domain/Robots.ts"
import type { RobotsFacts } from "#domain/scan/SiteFacts.ts"
import type { Sight } from "#domain/scan/Sight.ts"
import type { NoAnswer, SiteAnswer, SiteOutcome, Visit } from "../SiteVisits.ts"
import { noReading, openingLength, sightOf } from "./Looking.ts"

/** How the site met us: its home page and its robots.txt, before anything else is asked. */
export interface Met {
  readonly home: Sight
  /** Undefined when there was no answer, or a wall instead of one. */
  readonly answer: SiteAnswer | undefined
  readonly transport: "tls" | "plain" | "local"
  readonly tlsFailure: Sight | undefined
  /** Why there was no answer at all. */
  readonly failure: NoAnswer | undefined
  readonly robots: RobotsRead
}

/** What of a robots.txt is asked again once a page of a product is known. */
export interface RobotsRead {
  readonly sight: Sight
  readonly state: RobotsFacts["state"]
  readonly robots: Robots
  readonly text: string
}

/**
 * robots.txt first, as a crawler does, of each site on the way to the home page: where it keeps us out by our name, nothing else is asked.
 * Where https does not answer, http is tried; where the home page is on another host, the robots.txt of that host counts.
 */
export const meet = Effect.fnUntraced(function* (visit: Visit) {
  const { home } = visit.site
  const door = (url: URL) => visit.ask({ url, obeysRobots: "named" })
  const http = new URL(`http://${home.host}/`)
  const rules = yield* visit.ask({ url: robotsPath })
  // Who is silent would take as long again at the door, so that http is tried before.
  const isSilent = home.protocol === "https:" && rules._tag === "NoAnswer" && rules.reason === "timeout"
  const early = isSilent ? yield* door(http) : undefined
  const first = isSilent && isTold(early) ? rules : yield* door(home)
  const isLost = first._tag === "NoAnswer" && home.protocol === "https:" && overPlain.has(first.reason)
  const plain = early ?? (isLost ? yield* door(http) : undefined)
  const outcome = plain !== undefined && isLost && isTold(plain) ? plain : first
  const address = outcome._tag === "Answered" ? outcome.url : home
  const own = yield* visit.ask({ url: new URL(robotsPath, address) })
  const answered = outcome._tag === "Answered" && outcome.challenge === undefined ? outcome : undefined
  return {
    home: yield* sightOf(outcome === plain ? http.href : home.href, outcome),
    answer: answered,
    transport: transportOf(home, address, plain?._tag === "Answered"),
    tlsFailure:
      isLost && plain?._tag === "Answered" && address.origin !== home.origin
        ? yield* sightOf(home.href, first)
        : undefined,
    failure: outcome._tag === "NoAnswer" ? outcome : undefined,
    robots: yield* readRules(new URL(robotsPath, address).href, own)
  } satisfies Met
})
const robotsPath = "/robots.txt"

/** Why https may fail where http answers. */
const overPlain: ReadonlySet<NoAnswer["reason"]> = new Set(["unreachable", "tls", "timeout", "bad_response"])

const isTold = (outcome: SiteOutcome | undefined) => outcome?._tag === "Answered" || outcome?.reason === "robots"

const transportOf = (home: URL, reached: URL, isFallback: boolean): Met["transport"] => {
  if (home.protocol === "http:") return "local"
  return isFallback && reached.protocol === "http:" ? "plain" : "tls"
}

const readRules = Effect.fnUntraced(function* (asked: string, outcome: SiteOutcome) {
  const sight = yield* sightOf(asked, outcome, noReading)
  return rulesIn(sight, outcome)
})

const rulesIn = (sight: Sight, outcome: SiteOutcome): RobotsRead => {
  const none = { sight, robots: robotsOf(404, ""), text: "" }
  if (outcome._tag === "NoAnswer" || outcome.challenge !== undefined || outcome.status === 429) {
    return { ...none, state: "unknown" }
  }
  const { status, text } = outcome
  if (status >= 500) return { ...none, state: "fault" }
  // A page instead of the file says nothing, so everybody may come.
  if (status < 200 || status >= 300 || isMarkup(text.slice(0, openingLength))) return { ...none, state: "none" }
  return { sight, state: "rules", robots: robotsOf(status, text), text }
}

/** Programs that fetch a page because somebody wants to buy, or that find it for those: who is kept out is not sold to. */
const shoppingAgents = [
  "ChatGPT-User",
  "OAI-SearchBot",
  "Claude-User",
  "Claude-SearchBot",
  "Perplexity-User",
  "PerplexityBot",
  "Googlebot",
  "bingbot",
  "Amzn-User",
  "AmazonBuyForMe",
  "meta-externalfetcher",
  "MistralAI-User",
  "DuckAssistBot"
]

/** Crawlers that collect texts for training. Letting them in or not is the merchant's policy. */
const trainingCrawlers = [
  "GPTBot",
  "ClaudeBot",
  "Google-Extended",
  "Applebot-Extended",
  "Amazonbot",
  "meta-externalagent",
  "CCBot",
  "Bytespider"
]

export const robotsFacts = ({ robots, sight, state, text }: RobotsRead, product: string | undefined): RobotsFacts => {
  const path = product === undefined ? undefined : URL.parse(product)
  const { signals, usage } = readContentSignals(text)
  return {
    sight,
    state,
    agents: shoppingAgents,
    blockedAtHome: blocked(robots, "/"),
    blockedAtProducts: path == null ? undefined : blocked(robots, path.pathname + path.search),
    trainingNamed: trainingCrawlers.filter((crawler) => isNamed(robots, crawler)),
    contentSignals: [
      ...[...signals].map(([name, allowed]) => `${name}=${allowed ? "yes" : "no"}`),
      ...(usage === null ? [] : [usage])
    ]
  }
}

/** Those to whom the same groups speak share a verdict: a long file is not judged once for each. */
const blocked = (robots: Robots, path: string): ReadonlyArray<string> => {
  const verdicts = new Map<string, boolean>()
  return shoppingAgents.filter((agent) => {
    const name = agent.toLowerCase()
    const groups = robots.groups.flatMap(({ agents }, index) => (agents.includes(name) ? [index] : [])).join()
    const known = verdicts.get(groups) ?? robotsAllows(robots, agent, path)
    verdicts.set(groups, known)
    return !known
  })
}
