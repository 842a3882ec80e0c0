import { Effect } from "effect"
import { type AcpDiscovery, isAcpError, judgeAcp } from "#domain/protocol/Acp.ts"
import { readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { judgeSilence } from "./Calls.ts"
import { answer, askedFor, type Budget, firstOf, type Found, type Look, result } from "./Look.ts"
import type { Surroundings } from "./Surroundings.ts"
import { below } from "./UcpClient.ts"

const publish =
  "Publish an ACP discovery document at /.well-known/acp.json, with api_base_url and the checkout service (https://www.agenticcommerce.dev/)."

const absent = (look: Look, platform: string | null): Found => {
  if (look._tag === "Unseen") {
    const message = `/.well-known/acp.json ${look.why}.`
    return {
      results: [result("acp", "unknown", { confidence: "low" })],
      answers: [answer("acp", "unknown", message, { seen: look })]
    }
  }
  if (platform === "shopify") {
    const message = "The platform offers ACP to its shops; whether this one takes part cannot be seen from outside."
    return {
      results: [result("acp", "platform_enabled", { confidence: "low", detection_method: "the platform" })],
      answers: [answer("acp", "unknown", message, { seen: look })]
    }
  }
  const message =
    look._tag === "Json" ? "/.well-known/acp.json is no ACP discovery document." : `/.well-known/acp.json ${look.why}.`
  return {
    results: [result("acp", "not_detected")],
    answers: [answer("acp", "fail", message, { seen: look, fix: publish })]
  }
}

/** Asks for a checkout that does not exist: only the protocol answers that with its own error. */
const call = Effect.fnUntraced(function* ({ visit }: Surroundings, { base, version }: AcpDiscovery & { base: URL }) {
  const url = below(base, "/checkout_sessions/turnpike-no-such-session")
  const headers = version === null ? [] : [["API-Version", version.replace(/[^\x20-\x7e]/g, "").slice(0, 40)] as const]
  const outcome = yield* visit.ask({ url, accept: "application/json", headers })
  const seen = askedFor(url, outcome)
  const read =
    outcome._tag === "Answered" && outcome.challenge === undefined ? readBoundedJson(outcome.text) : undefined
  if (
    read?._tag === "Json" &&
    outcome._tag === "Answered" &&
    outcome.status >= 400 &&
    outcome.status !== 501 &&
    isAcpError(read.value)
  ) {
    return { status: "pass", message: "The API answers an unknown checkout in ACP.", seen } as const
  }
  const silence = judgeSilence(outcome, read?._tag === "NotJson" ? read.why : "JSON that is no error of ACP")
  switch (silence._tag) {
    case "Unseen":
      return { status: "unknown", message: `The API could not be judged: ${silence.why}.`, seen } as const
    case "Guarded":
      return {
        status: "warn",
        message: "Declared; the API asks for credentials before it answers.",
        seen,
        share: 0.5
      } as const
    case "Broken": {
      const fix = `Serve the ACP API at ${base.href.slice(0, 200)}, or take the discovery document away.`
      return {
        status: "fail",
        message: `ACP is declared but its API does not work: ${silence.why}.`,
        seen,
        fix
      } as const
    }
  }
})

export const probeAcp = Effect.fnUntraced(function* (surroundings: Surroundings, look: Look, budget: Budget) {
  const discovery = look._tag === "Json" ? judgeAcp(look.value, look.url) : undefined
  if (discovery === undefined) return absent(look, surroundings.platform)
  const { base, isValid, problems, services, version } = discovery
  const parts = {
    version,
    detection_method: "/.well-known/acp.json",
    endpoint_url: base?.href ?? null,
    capabilities: services,
    problems
  }
  if (!isValid || base === undefined) {
    const message = `The discovery document is not valid: ${firstOf(problems)}.`
    const fix = `Correct /.well-known/acp.json: ${firstOf(problems)}.`
    return {
      results: [result("acp", "eligible", { ...parts, confidence: "low", is_functional: false })],
      answers: [answer("acp", "fail", message, { seen: look, fix })]
    } satisfies Found
  }
  if (!discovery.transports.includes("rest") || !budget.take(1)) {
    const message = "Declared and well-formed; it was not called."
    return {
      results: [result("acp", "eligible", { ...parts, confidence: "medium" })],
      answers: [answer("acp", "unknown", message, { seen: look })]
    } satisfies Found
  }
  const { message, seen, status, ...more } = yield* call(surroundings, { ...discovery, base })
  const works = status === "pass"
  const notes = works && problems.length > 0
  return {
    results: [
      result("acp", works ? "confirmed" : "eligible", {
        ...parts,
        confidence: works ? "high" : "medium",
        is_functional: works ? true : status === "fail" ? false : null,
        response_time_ms: Math.round(seen.outcome.ms)
      })
    ],
    answers: [
      answer("acp", notes ? "warn" : status, notes ? `${message} ${firstOf(problems)}.` : message, { seen, ...more })
    ]
  } satisfies Found
})
