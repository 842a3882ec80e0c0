import { Effect } from "effect"
import { readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { askableResource, readX402Demand, readX402Listing, type X402Offered } from "#domain/protocol/X402Demanded.ts"
import type { SiteOutcome } from "../../SiteVisits.ts"
import { judgeSilence } from "./Calls.ts"
import { answer, askedFor, type Asked, type Budget, firstOf, type Found, type Look, result } from "./Look.ts"
import type { Surroundings } from "./Surroundings.ts"

const publish =
  "Answer 402 with a PAYMENT-REQUIRED header where a program may pay, and list it in /.well-known/x402 (https://www.x402.org/)."

/** The demand of an answer, if it is a 402 of x402. */
const demandIn = (outcome: SiteOutcome): X402Offered | undefined => {
  if (outcome._tag === "NoAnswer" || outcome.status !== 402) return undefined
  const read = readBoundedJson(outcome.text)
  return readX402Demand(outcome.headers.get("payment-required"), read._tag === "Json" ? read.value : undefined)
}

const demanded = (offered: X402Offered, seen: Asked, where: string): Found => {
  const isPayable = offered.problems.every(({ isFatal }) => !isFatal)
  const parts = {
    version: String(offered.version),
    detection_method: where,
    endpoint_url: seen.url.href,
    capabilities: [...offered.schemes, ...offered.networks],
    response_time_ms: Math.round(seen.outcome.ms),
    problems: offered.problems
  }
  if (isPayable) {
    const message = `Asks for payment in x402 version ${offered.version}.`
    return {
      results: [result("x402", "confirmed", { ...parts, is_functional: true })],
      answers: [answer("x402", "pass", message, { seen })]
    }
  }
  const message = `The 402 cannot be paid: ${firstOf(offered.problems)}.`
  return {
    results: [result("x402", "eligible", { ...parts, confidence: "medium", is_functional: false })],
    answers: [answer("x402", "fail", message, { seen, fix: `Correct the 402: ${firstOf(offered.problems)}.` })]
  }
}

const absent = (look: Look, isRetail: boolean): Found => {
  if (isRetail) {
    const message = "A shop for people needs no payment per call."
    return {
      results: [result("x402", look._tag === "Unseen" ? "unknown" : "not_applicable")],
      answers: [answer("x402", "not_applicable", message, { seen: look })]
    }
  }
  const message = look._tag === "Json" ? "/.well-known/x402 is no list of resources." : `/.well-known/x402 ${look.why}.`
  if (look._tag === "Unseen") {
    return {
      results: [result("x402", "unknown", { confidence: "low" })],
      answers: [answer("x402", "unknown", message, { seen: look })]
    }
  }
  return {
    results: [result("x402", "not_detected")],
    answers: [answer("x402", "fail", message, { seen: look, fix: publish })]
  }
}

const declaredOnly = (
  resources: ReadonlyArray<string>,
  seen: Asked,
  problem: string,
  status: "warn" | "unknown" | "fail"
): Found => ({
  results: [
    result("x402", "eligible", {
      confidence: "medium",
      detection_method: "/.well-known/x402",
      endpoint_url: resources[0] ?? null,
      is_functional: status === "fail" ? false : null
    })
  ],
  answers: [
    answer("x402", status, problem, {
      seen,
      ...(status === "warn" ? { share: 0.5 } : {}),
      ...(status === "fail" ? { fix: publish } : {})
    })
  ]
})

/** Reads the list and asks the first resource for its price. */
export const probeX402 = Effect.fnUntraced(function* (surroundings: Surroundings, look: Look, budget: Budget) {
  const { home, isRetail, visit } = surroundings
  const atHome = home === undefined ? undefined : demandIn(home.answer)
  if (home !== undefined && atHome !== undefined)
    return demanded(atHome, askedFor(home.answer.url, home.answer), "the home page")
  const direct = demandIn(look.outcome)
  if (direct !== undefined) return demanded(direct, look, "/.well-known/x402")
  const resources = look._tag === "Json" ? readX402Listing(look.value) : undefined
  if (resources === undefined) return absent(look, isRetail)
  const address = askableResource(resources)
  if (address === undefined)
    return declaredOnly(resources, look, "Resources are listed, but none can be asked with GET.", "warn")
  const base = look.url
  if (!URL.canParse(address, base.href))
    return declaredOnly(resources, look, "The first resource has no address.", "fail")
  if (!budget.take(1))
    return declaredOnly(resources, look, "Resources are listed; no call was left to confirm one.", "unknown")
  const url = new URL(address, base)
  const outcome = yield* visit.ask({ url, accept: "application/json" })
  const seen = askedFor(url, outcome)
  const offered = demandIn(outcome)
  if (offered !== undefined) return demanded(offered, seen, "/.well-known/x402 and a call")
  const silence = judgeSilence(outcome, "no demand for payment")
  if (silence._tag === "Unseen")
    return declaredOnly(resources, seen, `The listed resource could not be judged: ${silence.why}.`, "unknown")
  const why = silence._tag === "Guarded" ? "answered 401 instead of 402" : silence.why
  return declaredOnly(resources, seen, `The listed resource asks for no payment of x402: ${why}.`, "fail")
})
