import { registrableName } from "../MerchantDomain.ts"
import type { ClosedGate } from "../ScanScore.ts"
import type { Answer } from "../Rubric.ts"
import { fix } from "./Fixes.ts"
import type { SiteFacts } from "./SiteFacts.ts"
import { evidence, isAnswered, isFine, isMissing, isPage, type Sight, whyUnseen } from "./Sight.ts"

/** Whether an agent that says who it is gets in: the questions about reaching the site. */
export const accessAnswers = (facts: SiteFacts): ReadonlyArray<Answer> => [
  homeReachable(facts),
  agentsNotChallenged(facts),
  robotsAllowsAgents(facts),
  trainingPolicyStated(facts),
  contentSignals(facts),
  webBotAuth,
  sameForBrowsers(facts),
  robotsMatchesWall(facts)
]

/** How the home page met us. Only this, never one odd answer on a path, says that agents are kept out. */
export const homeRefusal = ({
  browserHome,
  home,
  wall
}: SiteFacts): "challenged" | "by_user_agent" | "refused" | undefined => {
  // A wall before robots.txt, which is asked for first, is one before everything.
  if (home.challenge !== null || (home.failure === "challenged" && wall !== undefined)) return "challenged"
  if (home.status === null || !refusals.has(home.status)) return undefined
  if (isFine(browserHome)) return "by_user_agent"
  // One refusal alone may pass: a second visitor has to meet one, too.
  const isShared = browserHome?.status != null && refusals.has(browserHome.status)
  return isShared && (home.status === 401 || home.status === 403) ? "refused" : undefined
}
/** The home page answers with a refusal, whoever it is meant for. */
export const isTurnedAway = ({ challenge, status }: Sight): boolean =>
  challenge === null && status !== null && refusals.has(status)

const refusals: ReadonlySet<number> = new Set([401, 403, 406, 429, 451, 503])

/** What keeps agents out altogether, and so caps the score. */
export const closedGates = (facts: SiteFacts): ReadonlyArray<ClosedGate> => {
  const { agents, blockedAtHome, state } = facts.robots
  const isDisallowed = state === "rules" && blockedAtHome.length === agents.length
  return [
    ...(isDisallowed
      ? [{ id: "robots_disallow_agents" as const, message: "robots.txt disallows every shopping agent." }]
      : []),
    ...(homeRefusal(facts) === undefined
      ? []
      : [{ id: "agents_challenged" as const, message: agentsNotChallenged(facts).message }])
  ]
}

const homeReachable = ({ domain, home, tlsFailure, transport }: SiteFacts): Answer => {
  const id = "home_reachable"
  const seen = evidence(home, home.headers.get("server") === undefined ? null : `server: ${home.headers.get("server")}`)
  if (transport === "plain") {
    const why =
      tlsFailure?.failure === "tls"
        ? "TLS with it fails, of which its certificate is the usual reason"
        : "https does not answer"
    return {
      id,
      status: "fail",
      message: `Only http answers: ${why}.`,
      evidence: evidence(tlsFailure),
      fix: fix(id)
    }
  }
  const where = elsewhere(domain, home)
  if (isMissing(home)) {
    return {
      id,
      status: "fail",
      message: `The home page answers ${home.status}${where}.`,
      evidence: seen,
      fix: "Serve a page at /: it is where every agent begins."
    }
  }
  if (home.status === null) {
    return { id, status: "unknown", message: `It was not seen: ${whyUnseen(home)}.`, evidence: seen, fix: null }
  }
  if (transport === "local") {
    const message = "The home page answers; this host is listed to be visited without TLS, so TLS was not judged."
    return { id, status: "unknown", message, evidence: seen, fix: null }
  }
  if (tlsFailure !== undefined || new URL(home.url).protocol === "http:") {
    const message =
      tlsFailure === undefined
        ? `The home page leads from https to http${where}.`
        : `https does not answer at this name; http leads on${where}.`
    return { id, status: "warn", message, evidence: seen, fix: fix(id) }
  }
  return { id, status: "pass", message: `The home page answers over TLS${where}.`, evidence: seen, fix: null }
}

/** Where a redirect led, when it left the name that was asked for. */
const elsewhere = (domain: string, { url }: Sight) => {
  const host = new URL(url).host
  if (host === domain) return ""
  const isSame = (registrableName(host) ?? host) === (registrableName(domain) ?? domain)
  return isSame ? `, at ${host}` : `, at another domain: ${host}`
}

const agentsNotChallenged = (facts: SiteFacts): Answer => {
  const id = "agents_not_challenged"
  const { home, wall } = facts
  const failed = (message: string, snippet: string | null = null): Answer => ({
    id,
    status: "fail",
    message,
    evidence: evidence(home, snippet),
    fix: fix(id, facts.platform?.name)
  })
  switch (homeRefusal(facts)) {
    case "challenged":
      return failed(`The home page answers agents with a challenge (${wall?.vendor}).`, wall?.marker)
    case "by_user_agent":
      return failed(`The home page answers ${home.status} to an agent and lets a browser in.`)
    case "refused":
      return failed(`The home page answers ${home.status} to an agent and to a browser, from where we look.`)
    case undefined:
  }
  if (wall !== undefined) {
    return {
      id,
      status: "warn",
      message: `A wall came up during the scan (${wall.vendor}); the home page was let through. It may be about the pace of our requests. Nothing was asked after it.`,
      evidence: evidence(wallOf(facts) ?? home, wall.marker),
      fix: fix(id, facts.platform?.name)
    }
  }
  if (home.status !== null && refusals.has(home.status)) {
    const message = `The home page answers ${home.status}, which may pass; whether it is about agents cannot be told.`
    return { id, status: "unknown", message, evidence: evidence(home), fix: null }
  }
  return { id, status: "pass", message: "No challenge was met.", evidence: evidence(home), fix: null }
}

/** The sight that met the wall, when it is one of those that are kept. */
const wallOf = (facts: SiteFacts): Sight | undefined =>
  [...facts.tried, facts.cart, facts.checkout, facts.search.sight, facts.catalogue?.sight, ...facts.nowhere].find(
    (sight) => sight?.challenge !== null && sight !== undefined
  )

const robotsAllowsAgents = ({ platform, robots }: SiteFacts): Answer => {
  const id = "robots_allows_agents"
  const { agents, blockedAtHome, blockedAtProducts = [], sight, state } = robots
  const answer = (status: Answer["status"], message: string): Answer => ({
    id,
    status,
    message,
    evidence: evidence(sight, state === "rules" ? sight?.opening : null),
    fix: status === "fail" || status === "warn" ? fix(id, platform?.name) : null
  })
  if (state === "unknown") return answer("unknown", `robots.txt could not be read: ${whyUnseen(sight)}.`)
  if (state === "none") return answer("pass", "There is no robots.txt, so nobody is kept out.")
  if (state === "fault") {
    return answer("warn", `robots.txt answers ${sight?.status}: crawlers that follow RFC 9309 stay away meanwhile.`)
  }
  if (blockedAtHome.length === agents.length) {
    return answer("fail", "robots.txt disallows every shopping agent on the home page.")
  }
  const blocked = [...new Set([...blockedAtHome, ...blockedAtProducts])]
  if (blocked.length === 0)
    return answer("pass", "robots.txt lets every shopping agent read the home page and products.")
  if (blockedAtProducts.length === agents.length) {
    return answer("fail", "robots.txt disallows every shopping agent on product pages.")
  }
  const share = (agents.length - blocked.length) / agents.length
  return { ...answer("warn", `robots.txt disallows some shopping agents: ${blocked.join(", ")}.`), share }
}

/** Not having an optional thing costs its points and is no fault. */
const absent = { status: "warn", share: 0 } as const

const trainingPolicyStated = ({ platform, robots }: SiteFacts): Answer => {
  const id = "training_policy_stated"
  const seen = evidence(robots.sight)
  if (robots.state === "unknown" || robots.state === "fault") {
    const message = `robots.txt could not be read: ${whyUnseen(robots.sight)}.`
    return { id, status: "unknown", message, evidence: seen, fix: null }
  }
  const signal = robots.contentSignals.find((line) => /ai-train\s*=/i.test(line))
  const stated = robots.trainingNamed.length > 0 ? robots.trainingNamed.join(", ") : signal
  return stated === undefined
    ? {
        id,
        ...absent,
        message: "robots.txt names no crawler for training.",
        evidence: seen,
        fix: fix(id, platform?.name)
      }
    : { id, status: "pass", message: `robots.txt says it for ${stated}.`, evidence: seen, fix: null }
}

const contentSignals = ({ home, platform, robots }: SiteFacts): Answer => {
  const id = "content_signals"
  const header = home.headers.get("content-usage")
  const [line] = robots.contentSignals
  if (line !== undefined) {
    return {
      id,
      status: "pass",
      message: "robots.txt has content signals.",
      evidence: evidence(robots.sight, line),
      fix: null
    }
  }
  if (header !== undefined) {
    const message = "The home page has a Content-Usage header."
    return { id, status: "pass", message, evidence: evidence(home, `content-usage: ${header}`), fix: null }
  }
  if (robots.state === "unknown" || robots.state === "fault") {
    const message = `robots.txt could not be read: ${whyUnseen(robots.sight)}.`
    return { id, status: "unknown", message, evidence: evidence(robots.sight), fix: null }
  }
  const message = "There are no content signals in robots.txt."
  return { id, ...absent, message, evidence: evidence(robots.sight), fix: fix(id, platform?.name) }
}

const webBotAuth: Answer = {
  id: "web_bot_auth",
  status: "unknown",
  message: "Whether signed agents are recognised cannot be seen from outside.",
  evidence: null,
  fix: null
}

const sameForBrowsers = (facts: SiteFacts): Answer => {
  const id = "same_for_browsers"
  const { browserHome, home } = facts
  const seen = evidence(browserHome)
  if (!isAnswered(browserHome) || !isAnswered(home)) {
    const message = `The two answers could not be compared: ${whyUnseen(isAnswered(home) ? browserHome : home)}.`
    return { id, status: "unknown", message, evidence: seen, fix: null }
  }
  const difference = differenceOf(home, browserHome)
  const { status } = browserHome
  if (difference === undefined && isFine(home) && !isFine(browserHome)) {
    const message = `An agent gets the home page. What looks like a browser is answered ${status} from where we look, so what people get was not seen.`
    return { id, status: "unknown", message, evidence: seen, fix: null }
  }
  if (difference === undefined && home.isTruncated) {
    const message = "The home page is longer than we read, so that the two answers were not compared to their end."
    return { id, status: "unknown", message, evidence: seen, fix: null }
  }
  return difference === undefined
    ? { id, status: "pass", message: "An agent and a browser get the same home page.", evidence: seen, fix: null }
    : { id, status: "fail", message: difference, evidence: evidence(home), fix: fix(id) }
}

/** How an agent is answered otherwise than a browser; undefined when the difference is what any two visits may show. */
export const differenceOf = (agent: Sight, browser: Sight): string | undefined => {
  if (isFine(browser) && agent.status !== null && (refusals.has(agent.status) || isMissing(agent))) {
    return `An agent is answered ${agent.status}, a browser ${browser.status}.`
  }
  if (!isPage(agent) || !isPage(browser) || agent.isTruncated) return undefined
  const [ours, theirs] = [agent.page.visibleLength, browser.page.visibleLength]
  const isLess = theirs >= 400 && ours < theirs * 0.3 && agent.page.title !== browser.page.title
  return isLess ? `An agent gets another page: ${ours} characters of text instead of ${theirs}.` : undefined
}

const robotsMatchesWall = (facts: SiteFacts): Answer => {
  const id = "robots_matches_wall"
  const { home, robots } = facts
  const refusal = homeRefusal(facts)
  if (robots.state === "unknown" || robots.state === "fault" || (refusal === undefined && !isAnswered(home))) {
    const message = `robots.txt and the wall could not be compared: ${whyUnseen(robots.state === "unknown" ? robots.sight : home)}.`
    return { id, status: "unknown", message, evidence: evidence(robots.sight), fix: null }
  }
  if (refusal === undefined && facts.wall !== undefined) {
    const message = "robots.txt lets agents in, and a wall came up during the scan."
    return { id, status: "warn", message, evidence: evidence(wallOf(facts) ?? home, facts.wall.marker), fix: fix(id) }
  }
  if (refusal === undefined) {
    return {
      id,
      status: "pass",
      message: "No wall refuses whom robots.txt allows.",
      evidence: evidence(home),
      fix: null
    }
  }
  if (robots.blockedAtHome.length === robots.agents.length) {
    const message = "robots.txt keeps agents out, and so does the wall."
    return { id, status: "pass", message, evidence: evidence(robots.sight), fix: null }
  }
  const message = "robots.txt lets agents in, and the site's wall keeps them out."
  return { id, status: "fail", message, evidence: evidence(home, home.challenge?.marker), fix: fix(id) }
}
