// One call of a UCP service as an unmodified client makes it, over either transport. None of them changes anything at the shop.
import { Effect } from "effect"
import { readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { toolNames } from "#domain/protocol/JsonRpc.ts"
import type { UcpProfile } from "#domain/protocol/Ucp.ts"
import { isFirstRelease, isUcpAnswer, messagesOf } from "#domain/protocol/UcpWords.ts"
import { asFields } from "#domain/protocol/X402Payload.ts"
import type { Answer } from "#domain/Rubric.ts"
import type { Visit } from "../../SiteVisits.ts"
import { callRpc, judgeSilence } from "./Calls.ts"
import { type Asked, askedFor } from "./Look.ts"
import { profileFor } from "#domain/protocol/UcpAgentProfile.ts"
import { below, ucpOperations } from "./UcpClient.ts"

/** What calling a service showed. */
export interface Called {
  readonly status: Answer["status"]
  readonly message: string
  readonly seen: Asked
  readonly fix?: string
  readonly share?: number
  readonly tools: ReadonlyArray<string> | undefined
}
export type Callable = UcpProfile["callable"][number]

/** Words by which a server refuses our profile, and shows that it speaks UCP. */
const negotiation = ["invalid_profile_url", "profile_unreachable", "profile_malformed", "version_unsupported"]

export const callMcp = Effect.fnUntraced(function* (visit: Visit, { endpoint }: Callable, version: string) {
  const profile = profileFor(visit, version)
  // Unmodified clients list the tools at once, without `initialize`, and say who they are among the arguments.
  const params = isFirstRelease(version)
    ? { _meta: { ucp: { profile } } }
    : { arguments: { meta: { "ucp-agent": { profile } } } }
  const call = yield* callRpc(visit, endpoint, "tools/list", params)
  const seen = askedFor(endpoint, call.outcome)
  const declaredOnly = { seen, share: 0.5, tools: undefined } as const
  switch (call._tag) {
    case "Result": {
      const tools = toolNames(call.result)
      if (tools?.some((name) => /^(?:create|search|get|lookup)_(?:checkout|cart|catalog|product|order)$/.test(name))) {
        return {
          status: "pass",
          message: `The MCP endpoint lists ${tools.length} tools.`,
          seen,
          tools
        } satisfies Called
      }
      const message = "The MCP endpoint answers, but lists no tool of UCP."
      return {
        ...declaredOnly,
        status: "warn",
        message,
        fix: "List the tools of the declared capabilities, such as create_checkout."
      } satisfies Called
    }
    case "RpcError": {
      const code = call.data?.["code"]
      if (typeof code === "string" && negotiation.includes(code)) {
        return {
          status: "pass",
          message: `The MCP endpoint answers in UCP: ${code}.`,
          seen,
          tools: []
        } satisfies Called
      }
      const message = `The MCP endpoint refuses tools/list: ${call.code} ${call.message}.`
      const fix = "Answer tools/list without initialize and without a session: UCP clients send it straight away."
      return { ...declaredOnly, status: "warn", message, fix } satisfies Called
    }
    case "Guarded":
      return {
        ...declaredOnly,
        status: "warn",
        message: "The MCP endpoint asks for credentials before it lists its tools."
      } satisfies Called
    case "Unseen":
      return {
        status: "unknown",
        message: `The MCP endpoint could not be judged: ${call.why}.`,
        seen,
        tools: undefined
      } satisfies Called
    case "Broken": {
      const fix = `Serve MCP over HTTP at ${endpoint.href.slice(0, 200)}, or take it out of the profile.`
      return {
        status: "fail",
        message: `The MCP endpoint is declared but does not work: ${call.why}.`,
        seen,
        fix,
        tools: undefined
      } satisfies Called
    }
  }
})

/** Operations of REST, by the capabilities that a profile declares. */
const restTools = ({ capabilities }: UcpProfile): ReadonlyArray<string> =>
  ucpOperations.filter((operation) => {
    if (operation === "search_catalog") return capabilities.includes("dev.ucp.shopping.catalog.search")
    return capabilities.includes(`dev.ucp.shopping.${operation.endsWith("_cart") ? "cart" : "checkout"}`)
  })

/** Whether a body is an answer of UCP, or one of its protocol errors. */
const isInProtocol = (value: unknown): boolean => {
  const said = asFields(value)
  if (said === undefined) return false
  if (isUcpAnswer(said) || messagesOf(said).some(({ type }) => type === "error")) return true
  return (
    typeof said["code"] === "string" && (typeof said["content"] === "string" || typeof said["message"] === "string")
  )
}

export const callRest = Effect.fnUntraced(function* (visit: Visit, { endpoint }: Callable, profile: UcpProfile) {
  const agent = profileFor(visit, profile.version ?? profile.release)
  const url = below(endpoint, "/checkout-sessions/turnpike-no-such-session")
  const outcome = yield* visit.ask({ url, accept: "application/json", headers: [["UCP-Agent", `profile="${agent}"`]] })
  const seen = askedFor(url, outcome)
  const read =
    outcome._tag === "Answered" && outcome.challenge === undefined ? readBoundedJson(outcome.text) : undefined
  if (read?._tag === "Json" && isInProtocol(read.value)) {
    const message = "The REST endpoint answers an unknown session in UCP."
    return { status: "pass", message, seen, tools: restTools(profile) } satisfies Called
  }
  const silence = judgeSilence(outcome, read?._tag === "NotJson" ? read.why : "JSON that is not of UCP")
  if (silence._tag === "Unseen") {
    return {
      status: "unknown",
      message: `The REST endpoint could not be judged: ${silence.why}.`,
      seen,
      tools: undefined
    } satisfies Called
  }
  if (silence._tag === "Guarded") {
    const message = "The REST endpoint asks for credentials before it answers."
    return { status: "warn", message, seen, share: 0.5, tools: undefined } satisfies Called
  }
  const isClientError = outcome._tag === "Answered" && outcome.status >= 400 && outcome.status < 500
  if (isClientError && read?._tag === "Json") {
    const message = `The REST endpoint answers an unknown session with ${outcome.status} and JSON, but not in UCP.`
    const fix = "Answer with the error of UCP: `ucp.status` and `messages`, or `code` and `content`."
    return { status: "warn", message, seen, share: 0.5, fix, tools: undefined } satisfies Called
  }
  const fix = `Serve the REST binding at ${endpoint.href.slice(0, 200)}, or take it out of the profile.`
  return {
    status: "fail",
    message: `The REST endpoint is declared but does not work: ${silence.why}.`,
    seen,
    fix,
    tools: undefined
  } satisfies Called
})
