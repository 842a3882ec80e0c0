import type { Step } from "#domain/ShoppingTest.ts"
import type { SiteAnswer } from "../SiteVisits.ts"
import { evidenceOf, failed } from "./Outcomes.ts"
import type { StepOutcome } from "./Rail.ts"

/** Why pages that should be products are none, where each was answered with 4xx; undefined when none was. */
export const turnedAway = (step: Step, answers: ReadonlyArray<SiteAnswer>): StepOutcome | undefined => {
  const [first] = answers
  if (first === undefined) return undefined
  const codes = [...new Set(answers.map(({ status }) => status))]
  const which =
    answers.length === 1
      ? `The only page that may be a product's, ${first.url.pathname}, answers ${first.status}`
      : `All ${answers.length} pages that were looked at for a product answer ${codes.join(", ")}, ${first.url.pathname} with ${first.status}`
  const seen = evidenceOf(first)
  if (codes.every((code) => code === 401))
    return failed(step, "account_required", `${which}: it asks for a login.`, seen)
  if (codes.every((code) => code === 403))
    return failed(step, "bot_challenge", `${which}, at least to our agent.`, seen)
  return failed(step, "no_products_found", `${which}.`, seen)
}
