import type { Answer } from "../Rubric.ts"
import { fix } from "./Fixes.ts"
import type { SiteFacts } from "./SiteFacts.ts"
import { evidence, isFine, isMissing, whyUnseen } from "./Sight.ts"

/** How the site answers: how soon, and what to paths that do not exist. */
export const behaviourAnswers = (facts: SiteFacts): ReadonlyArray<Answer> => [latency(facts), honestNotFound(facts)]

/** The median of the times to the first byte of pages. */
export const medianMillis = ({ cart, checkout, home, tried }: SiteFacts): number | null => {
  const times = [home, ...tried, cart, checkout]
    .flatMap((sight) => (isFine(sight) && sight.ms !== null ? [sight.ms] : []))
    .toSorted((a, b) => a - b)
  return times[Math.floor((times.length - 1) / 2)] ?? null
}

const latency = (facts: SiteFacts): Answer => {
  const id = "latency"
  const median = medianMillis(facts)
  const seen = evidence(facts.home)
  if (median === null) return { id, status: "unknown", message: "No page was answered.", evidence: seen, fix: null }
  const message = `Half of the pages begin to answer within ${median} ms, from where we look.`
  if (median <= 800) return { id, status: "pass", message, evidence: seen, fix: null }
  return { id, status: median <= 2500 ? "warn" : "fail", message, evidence: seen, fix: fix(id) }
}

const honestNotFound = ({ nowhere }: SiteFacts): Answer => {
  const id = "honest_not_found"
  const soft = nowhere.find(isFine)
  if (soft !== undefined) {
    const message = "A path that does not exist answers with success. Well-known documents count only by what they say."
    return { id, status: "fail", message, evidence: evidence(soft, soft.opening), fix: fix(id) }
  }
  const odd = nowhere.find((sight) => !isMissing(sight))
  if (odd !== undefined || nowhere.length === 0) {
    const message = `How missing pages are answered was not seen: ${whyUnseen(odd)}.`
    return { id, status: "unknown", message, evidence: evidence(odd), fix: null }
  }
  return { id, status: "pass", message: "Missing pages answer 404.", evidence: evidence(nowhere[0]), fix: null }
}
