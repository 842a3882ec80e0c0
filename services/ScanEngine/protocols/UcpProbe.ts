import { Effect } from "effect"
import type { Problem } from "#domain/protocol/Problems.ts"
import { judgeUcp, type UcpProfile } from "#domain/protocol/Ucp.ts"
import type { Answer } from "#domain/Rubric.ts"
import type { Visit } from "../../SiteVisits.ts"
import { answer, type Asked, type Budget, firstOf, type Found, type Look, result } from "./Look.ts"
import type { Surroundings, UcpAccess } from "./Surroundings.ts"
import { type Callable, type Called, callMcp, callRest } from "./UcpCalls.ts"

export interface UcpFound extends Found {
  /** Undefined when there is none, or none was seen. */
  readonly profile: UcpProfile | undefined
  readonly isUnseen: boolean
  readonly access: UcpAccess | undefined
  /** The MCP endpoint that listed its tools. */
  readonly mcp: { readonly endpoint: URL; readonly tools: ReadonlyArray<string>; readonly seen: Asked } | undefined
}

const publish = "Publish a UCP profile of the current release as JSON at /.well-known/ucp (https://ucp.dev/)."

const withoutProfile = (look: Look & { readonly why: string }): UcpFound => {
  const isUnseen = look._tag === "Unseen"
  const status = isUnseen ? "unknown" : "fail"
  const fix = isUnseen ? {} : { fix: publish }
  const message = `/.well-known/ucp ${look.why}.`
  return {
    results: [
      result("ucp", isUnseen ? "unknown" : "not_detected", {
        confidence: isUnseen ? "low" : "high",
        problems: [message]
      })
    ],
    answers: [
      answer("ucp_profile", status, message, { seen: look, ...fix }),
      answer("ucp_functional", status, isUnseen ? message : "There is no UCP service to call.", { seen: look, ...fix })
    ],
    profile: undefined,
    isUnseen,
    access: undefined,
    mcp: undefined
  }
}

const profileAnswer = (profile: UcpProfile, look: Look): Answer => {
  const { isValid, problems, release, version } = profile
  const judged = `Version ${version ?? "not declared"}, judged by release ${release}`
  if (problems.length === 0) return answer("ucp_profile", "pass", `${judged}: valid.`, { seen: look })
  const message = `${judged}: ${firstOf(problems)}.`
  const fix = `Correct the profile at /.well-known/ucp: ${firstOf(problems)}.`
  return answer("ucp_profile", isValid ? "warn" : "fail", message, { seen: look, fix })
}

/** Without a call: there is nothing to call, or no call was left. */
const uncalled = (profile: UcpProfile, look: Look): Answer => {
  if (profile.callable.length > 0)
    return answer("ucp_functional", "unknown", "No call was left to confirm it.", { seen: look })
  if (profile.bindings.some(({ transport }) => transport === "a2a" || transport === "embedded")) {
    return answer("ucp_functional", "unknown", "It is offered over A2A or embedded only, which were not called.", {
      seen: look
    })
  }
  const fix = "Declare a service with a transport and an https endpoint, such as dev.ucp.shopping over mcp."
  return answer("ucp_functional", "fail", "The profile declares nothing that can be called.", { seen: look, fix })
}

/** Calls the best service; where it is broken, the first over the other transport. */
const callBest = Effect.fnUntraced(function* (visit: Visit, profile: UcpProfile, budget: Budget) {
  const tried: Array<{ readonly binding: Callable; readonly called: Called }> = []
  const firsts = [...Map.groupBy(profile.callable, ({ transport }) => transport).values()].flatMap(
    ([first]) => first ?? []
  )
  for (const binding of firsts) {
    if (!budget.take(1)) break
    const called: Called =
      binding.transport === "mcp"
        ? yield* callMcp(visit, binding, profile.version ?? profile.release)
        : yield* callRest(visit, binding, profile)
    tried.push({ binding, called })
    if (called.status !== "fail") break
  }
  return tried
})

const elsewhere: Problem = {
  path: "",
  what: "the profile is behind a redirect, which clients do not follow",
  isFatal: false
}

/** Whether the profile is behind a redirect that the home page is not behind: a shop that lives at another host is no fault. */
const isElsewhere = ({ home }: Surroundings, { outcome, url }: Look): boolean => {
  if (outcome._tag === "NoAnswer" || outcome.redirects.length === 0) return false
  return home !== undefined && !(home.answer.url.host === url.host && url.pathname === "/.well-known/ucp")
}

/** Judges the profile and calls what it declares. */
export const probeUcp = Effect.fnUntraced(function* (surroundings: Surroundings, look: Look, budget: Budget) {
  if (look._tag !== "Json") return withoutProfile(look)
  const { platform, visit } = surroundings
  const profile = judgeUcp(look.value, look.url)
  if (profile === undefined) {
    const why = surroundings.hasSoftNotFound
      ? "answers what every path of this site answers"
      : "is JSON, but no UCP profile"
    return withoutProfile({ ...look, _tag: "Absent", why })
  }
  const judged = isElsewhere(surroundings, look) ? { ...profile, problems: [...profile.problems, elsewhere] } : profile
  const tried = yield* callBest(visit, profile, budget)
  const last = tried.at(-1)
  const isRepaired = tried.length > 1 && last?.called.status === "pass"
  const functional =
    last === undefined
      ? uncalled(profile, look)
      : answer(
          "ucp_functional",
          isRepaired ? "warn" : last.called.status,
          tried.map(({ called }) => called.message).join(" "),
          {
            seen: last.called.seen,
            ...(last.called.fix === undefined ? {} : { fix: last.called.fix }),
            ...(last.called.share === undefined ? {} : { share: last.called.share })
          }
        )
  const works = last?.called.status === "pass"
  const tools = last?.called.tools ?? []
  const told = result("ucp", works ? (platform === "shopify" ? "platform_enabled" : "confirmed") : "eligible", {
    confidence: works ? "high" : profile.isValid ? "medium" : "low",
    version: profile.version ?? profile.release,
    detection_method: works ? `/.well-known/ucp and a call over ${last.binding.transport}` : "/.well-known/ucp",
    endpoint_url: (last?.binding ?? profile.callable[0])?.endpoint.href ?? null,
    capabilities: profile.capabilities,
    is_functional: works ? true : functional.status === "fail" ? false : null,
    response_time_ms: last === undefined ? null : Math.round(last.called.seen.outcome.ms),
    problems: judged.problems
  })
  const found: UcpFound = {
    results: [told],
    answers: [profileAnswer(judged, look), functional],
    profile,
    isUnseen: false,
    access: works
      ? {
          version: profile.version ?? profile.release,
          transport: last.binding.transport,
          endpoint: last.binding.endpoint,
          tools
        }
      : undefined,
    mcp:
      works && last.binding.transport === "mcp"
        ? { endpoint: last.binding.endpoint, tools, seen: last.called.seen }
        : undefined
  }
  return found
})
