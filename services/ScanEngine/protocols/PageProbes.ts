// What the home page itself says of protocols: WebMCP, NLWeb, and where the API is described.
import { Effect } from "effect"
import type { JsonLdNode } from "#domain/page/PageFacts.ts"
import { readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { isNlWebAnswer, linkTargets } from "#domain/protocol/ServiceMetadata.ts"
import { asFields } from "#domain/protocol/X402Payload.ts"
import { judgeSilence } from "./Calls.ts"
import { answer, askedFor, type Budget, type Found, result } from "./Look.ts"
import type { Surroundings } from "./Surroundings.ts"

/** WebMCP: attributes on forms are the tools themselves; a script that mentions the API only may register some. */
export const probeWebMcp = ({ home, platform }: Surroundings): Found => {
  if (home === undefined) {
    return {
      results: [result("webmcp", "unknown", { confidence: "low" })],
      answers: [answer("webmcp", "unknown", "The home page could not be read.")]
    }
  }
  const seen = askedFor(home.answer.url, home.answer)
  const marks = home.facts.webMcp
  const parts = { detection_method: "the home page", endpoint_url: home.answer.url.href, capabilities: marks }
  const status = platform === "shopify" ? "platform_enabled" : "eligible"
  if (marks.some((mark) => /tool-?(?:name|description)/i.test(mark))) {
    const message = "Forms of the home page are described as tools."
    return { results: [result("webmcp", status, parts)], answers: [answer("webmcp", "pass", message, { seen })] }
  }
  if (marks.length > 0) {
    const message = "A script of the home page uses WebMCP; which tools it registers only a browser can tell."
    return {
      results: [result("webmcp", status, { ...parts, confidence: "medium" })],
      answers: [answer("webmcp", "warn", message, { seen, share: 0.5 })]
    }
  }
  const fix =
    "Describe the search and cart forms as tools: toolname and tooldescription (https://webmachinelearning.github.io/webmcp/)."
  return {
    results: [result("webmcp", "not_detected", { confidence: "medium" })],
    answers: [answer("webmcp", "fail", "The home page declares no WebMCP tools.", { seen, fix })]
  }
}

/** Where a page says that NLWeb is: a link of that relation, or a search action that ends in /ask. */
const declaredAsk = ({ home }: Surroundings): URL | undefined => {
  if (home === undefined) return undefined
  const { answer: page, facts } = home
  const links = facts.headLinks.filter(({ rel }) => /\bnlweb\b/i.test(rel)).map(({ href }) => href)
  const headers = linkTargets(page.headers.get("link"), ["nlweb"])
  const actions = facts.jsonLd.flatMap(searchTargets).filter((target) => /\/ask(?:[?{]|$)/.test(target))
  const [first] = [...links, ...headers, ...actions.map((target) => target.replace(/[?{].*$/s, ""))]
  return first !== undefined && URL.canParse(first, page.url.href) ? new URL(first, page.url) : undefined
}

const searchTargets = (node: JsonLdNode): ReadonlyArray<string> => {
  const actions: ReadonlyArray<unknown> = [node["potentialAction"]].flat().slice(0, 10)
  return actions.flatMap((action) => {
    const target = asFields(action)?.["target"]
    const text = asFields(target)?.["urlTemplate"] ?? target
    return typeof text === "string" ? [text] : []
  })
}

/** NLWeb, where the site says that it has it. */
export const probeNlWeb = Effect.fnUntraced(function* (surroundings: Surroundings, budget: Budget) {
  const ask = declaredAsk(surroundings)
  if (ask === undefined) {
    return {
      results: [result("nlweb", "not_applicable", { confidence: "medium" })],
      answers: [answer("nlweb", "not_applicable", "The site declares no NLWeb.")]
    } satisfies Found
  }
  const parts = { detection_method: "the home page", endpoint_url: ask.href }
  if (!budget.take(1)) {
    return {
      results: [result("nlweb", "eligible", { ...parts, confidence: "medium" })],
      answers: [answer("nlweb", "unknown", "Declared; no call was left to confirm it.")]
    } satisfies Found
  }
  const url = new URL(ask)
  url.searchParams.set("query", "gift")
  url.searchParams.set("streaming", "false")
  const outcome = yield* surroundings.visit.ask({ url, accept: "application/json" })
  const seen = askedFor(url, outcome)
  const isReadable = outcome._tag === "Answered" && outcome.challenge === undefined && outcome.status < 300
  const read = isReadable ? readBoundedJson(outcome.text) : undefined
  if (read?._tag === "Json" && isNlWebAnswer(read.value)) {
    return {
      results: [
        result("nlweb", "confirmed", { ...parts, is_functional: true, response_time_ms: Math.round(outcome.ms) })
      ],
      answers: [answer("nlweb", "pass", "NLWeb answers with schema.org items.", { seen })]
    } satisfies Found
  }
  const silence = judgeSilence(outcome, read?._tag === "NotJson" ? read.why : "no results of NLWeb")
  const status = silence._tag === "Unseen" ? "unknown" : silence._tag === "Guarded" ? "warn" : "fail"
  const why = silence._tag === "Guarded" ? "it asks for credentials" : silence.why
  const more =
    status === "warn"
      ? { share: 0.5 }
      : status === "fail"
        ? { fix: `Answer ${ask.href.slice(0, 200)} with results of schema.org items, or take the link away.` }
        : {}
  return {
    results: [
      result("nlweb", "eligible", { ...parts, confidence: "medium", is_functional: status === "fail" ? false : null })
    ],
    answers: [answer("nlweb", status, `NLWeb is declared, but not confirmed: ${why}.`, { seen, ...more })]
  } satisfies Found
})

/** Where the site says that its API is described, in its headers or head. */
export const describedApi = ({ home }: Surroundings): URL | undefined => {
  if (home === undefined) return undefined
  const { answer: page, facts } = home
  const relations = ["api-catalog", "service-desc", "service-doc"]
  const links = facts.headLinks.filter(({ rel }) => relations.includes(rel.toLowerCase())).map(({ href }) => href)
  const [first] = [...linkTargets(page.headers.get("link"), relations), ...links]
  return first !== undefined && URL.canParse(first, page.url.href) ? new URL(first, page.url) : undefined
}
