import { type Answer, type QuestionId, rubric } from "../Rubric.ts"
import type { ProtocolResult, ScanFindings } from "../Scan.ts"
import type { SiteFacts } from "./SiteFacts.ts"

/** What shows that the site means to speak it. Questions that no result stands for are about what a site may have beside a protocol. */
const resultOf: Partial<Record<QuestionId, ProtocolResult["protocol"]>> = {
  ucp_profile: "ucp",
  ucp_functional: "ucp",
  acp: "acp",
  x402: "x402",
  ap2: "ap2",
  mcp_server: "mcp",
  a2a_card: "a2a",
  webmcp: "webmcp",
  nlweb: "nlweb"
}

/** Protocols of buying things; those of programs and services concern others, too. */
const ofBuying: ReadonlySet<QuestionId> = new Set(["ucp_profile", "ucp_functional", "acp", "ap2", "card_programmes"])
const servesPrograms: ReadonlySet<ScanFindings["business_model"]> = new Set(["saas", "api_provider"])

/**
 * That a protocol is not there is held against who could use it: those of buying against shops, the others against shops and services,
 * none against a site that people read. What is declared counts for everybody, working or not.
 */
export const applicable = (
  answers: ReadonlyArray<Answer>,
  results: ReadonlyArray<ProtocolResult>,
  { shop }: Pick<SiteFacts, "shop">,
  model: ScanFindings["business_model"]
): ReadonlyArray<Answer> => {
  if (shop.answer !== "no") return answers
  const isDeclared = (id: QuestionId) =>
    results.some(({ protocol, status }) => protocol === resultOf[id] && status !== "not_detected")
  return answers.map((answer) => {
    const concerns = (servesPrograms.has(model) && !ofBuying.has(answer.id)) || isDeclared(answer.id)
    if (rubric[answer.id].group !== "protocol" || answer.status !== "fail" || concerns) return answer
    const message = `${answer.message} It has no use here: ${shop.because}.`
    return { ...answer, status: "not_applicable", message, fix: null }
  })
}
