import { Effect } from "effect"
import { toolNames } from "#domain/protocol/JsonRpc.ts"
import { judgeMcpCard, type McpCard } from "#domain/protocol/McpCard.ts"
import type { Visit } from "../../SiteVisits.ts"
import { callRpc, notifyRpc, type RpcCall } from "./Calls.ts"
import { answer, type Asked, askedFor, type Budget, firstOf, type Found, type Look, result } from "./Look.ts"
import type { Surroundings } from "./Surroundings.ts"
import type { UcpFound } from "./UcpProbe.ts"

export interface McpFound extends Found {
  /** It answered 401: whoever calls it needs to know where tokens come from. */
  readonly needsAuth: boolean
}

const publish =
  "Run an MCP server over streamable HTTP and say where in /.well-known/mcp/server-card.json (https://modelcontextprotocol.io/)."
const revision = "2025-06-18"
/** The first revision without sessions: every call says for itself who asks, and how. */
const sessionless = "2026-07-28"
const clientInfo = { name: "turnpike-scanner", version: "1" }

/** The first card among the documents, if there is one. */
const cardIn = (looks: ReadonlyArray<Look>): { readonly card: McpCard; readonly look: Look } | undefined =>
  looks
    .flatMap((look) => {
      const card = look._tag === "Json" ? judgeMcpCard(look.value, look.url) : undefined
      return card === undefined ? [] : [{ card, look }]
    })
    .at(0)

interface Opened {
  readonly call: RpcCall
  readonly tools: ReadonlyArray<string> | undefined
}

const listed = (call: RpcCall): Opened => ({ call, tools: call._tag === "Result" ? toolNames(call.result) : undefined })

/** Whether it refuses to open a session because it speaks revisions without any. */
const isSessionless = (opening: RpcCall): boolean => {
  const supported = opening._tag === "RpcError" ? opening.data?.["supported"] : undefined
  return Array.isArray(supported) && supported.includes(sessionless)
}

const listAtOnce = (visit: Visit, endpoint: URL) => {
  const about = { protocolVersion: sessionless, clientInfo, clientCapabilities: {} }
  const _meta = Object.fromEntries(
    Object.entries(about).map(([name, value]) => [`io.modelcontextprotocol/${name}`, value])
  )
  return callRpc(visit, endpoint, "tools/list", { _meta }, [
    ["MCP-Protocol-Version", sessionless],
    ["Mcp-Method", "tools/list"]
  ])
}

/** What opening a session and listing its tools takes. */
const sessionCalls = 3

/** Opens a session as clients do, and lists the tools in it. */
const open = Effect.fnUntraced(function* (visit: Visit, endpoint: URL) {
  const opening = yield* callRpc(visit, endpoint, "initialize", {
    protocolVersion: revision,
    capabilities: {},
    clientInfo
  })
  if (isSessionless(opening)) return listed(yield* listAtOnce(visit, endpoint))
  if (opening._tag !== "Result") return { call: opening, tools: undefined } satisfies Opened
  const session = opening.outcome.headers.get("mcp-session-id")
  const spoken = opening.result["protocolVersion"]
  const headers = [
    ["MCP-Protocol-Version", typeof spoken === "string" && /^[\w.-]{1,40}$/.test(spoken) ? spoken : revision],
    ...(session !== undefined && /^[\x21-\x7e]{1,400}$/.test(session) ? [["Mcp-Session-Id", session] as const] : [])
  ] as const
  // Servers on the Python library answer nothing in a session before they were told that it is open. It has no answer to judge.
  yield* notifyRpc(visit, endpoint, "notifications/initialized", headers)
  const call = yield* callRpc(visit, endpoint, "tools/list", {}, headers)
  return listed(call)
})

const told = (
  opened: Opened,
  endpoint: URL,
  where: string,
  isPlatform: boolean,
  problems: McpCard["problems"]
): McpFound => {
  const { call, tools } = opened
  const seen = askedFor(endpoint, call.outcome)
  const parts = {
    detection_method: where,
    endpoint_url: endpoint.href,
    response_time_ms: Math.round(call.outcome.ms),
    problems
  }
  if (tools !== undefined) {
    return {
      results: [
        result("mcp", isPlatform ? "platform_enabled" : "confirmed", {
          ...parts,
          capabilities: tools,
          is_functional: true
        })
      ],
      answers: [answer("mcp_server", "pass", `The MCP server lists ${tools.length} tools.`, { seen })],
      needsAuth: false
    }
  }
  const eligible = (is_functional: boolean | null) => [
    result("mcp", "eligible", { ...parts, confidence: "medium", is_functional })
  ]
  switch (call._tag) {
    case "Guarded": {
      const message = "The MCP server asks for credentials; whether it works could not be seen."
      return {
        results: eligible(null),
        answers: [answer("mcp_server", "warn", message, { seen, share: 0.5 })],
        needsAuth: true
      }
    }
    case "Unseen":
      return {
        results: eligible(null),
        answers: [answer("mcp_server", "unknown", `The MCP server could not be judged: ${call.why}.`, { seen })],
        needsAuth: false
      }
    case "Broken": {
      const message = `The MCP server is declared but does not work: ${call.why}.`
      const fix = `Serve MCP over streamable HTTP at ${endpoint.href.slice(0, 200)}, or take the card away.`
      return {
        results: eligible(false),
        answers: [answer("mcp_server", "fail", message, { seen, fix })],
        needsAuth: false
      }
    }
    default: {
      const message = `The MCP server answers, but does not list its tools${call._tag === "RpcError" ? `: ${call.code} ${call.message}` : ""}.`
      const fix = "Answer tools/list after initialize."
      return {
        results: eligible(null),
        answers: [answer("mcp_server", "warn", message, { seen, share: 0.5, fix })],
        needsAuth: false
      }
    }
  }
}

const absent = (looks: ReadonlyArray<Look>): McpFound => {
  const unseen = looks.find(({ _tag }) => _tag === "Unseen")
  const broken = looks.find(({ _tag }) => _tag === "Broken")
  const seen: Asked | undefined = unseen ?? broken ?? looks[0]
  if (unseen !== undefined) {
    const message = `${unseen.url.pathname} ${"why" in unseen ? unseen.why : ""}.`
    return {
      results: [result("mcp", "unknown", { confidence: "low" })],
      answers: [answer("mcp_server", "unknown", message, { seen })],
      needsAuth: false
    }
  }
  return {
    results: [result("mcp", "not_detected")],
    answers: [answer("mcp_server", "fail", "No MCP server was found.", { seen, fix: publish })],
    needsAuth: false
  }
}

/** Where a server is: on Shopify every shop has one, with or without a card. */
const platformEndpoint = ({ platform, visit }: Surroundings): URL | undefined =>
  platform === "shopify" ? new URL("/api/mcp", visit.reached()) : undefined

/** Judges the cards and calls the server, unless UCP's own MCP server has answered already. */
export const probeMcp = Effect.fnUntraced(function* (
  surroundings: Surroundings,
  looks: ReadonlyArray<Look>,
  ucp: UcpFound,
  budget: Budget
) {
  const isPlatform = surroundings.platform === "shopify"
  const found = cardIn(looks)
  if (
    ucp.mcp !== undefined &&
    (found?.card.endpoint === undefined || found.card.endpoint.href === ucp.mcp.endpoint.href)
  ) {
    const { endpoint, seen, tools } = ucp.mcp
    const mcp = result("mcp", isPlatform ? "platform_enabled" : "confirmed", {
      detection_method: "the MCP endpoint of the UCP profile",
      endpoint_url: endpoint.href,
      capabilities: tools,
      is_functional: true,
      response_time_ms: Math.round(seen.outcome.ms),
      problems: found?.card.problems ?? []
    })
    const message = "The MCP server of the UCP profile lists its tools."
    return {
      results: [mcp],
      answers: [answer("mcp_server", "pass", message, { seen })],
      needsAuth: false
    } satisfies McpFound
  }
  const endpoint = found?.card.endpoint ?? (found === undefined ? platformEndpoint(surroundings) : undefined)
  const problems = found?.card.problems ?? []
  if (endpoint === undefined) {
    if (found === undefined) return absent(looks)
    const message = `The MCP server card cannot be used: ${firstOf(problems)}.`
    const fix = "Say in the card where the server is, as an https URL."
    return {
      results: [
        result("mcp", "eligible", {
          confidence: "low",
          detection_method: found.look.url.pathname,
          is_functional: false,
          problems
        })
      ],
      answers: [answer("mcp_server", "fail", message, { seen: found.look, fix })],
      needsAuth: false
    } satisfies McpFound
  }
  if (!budget.take(sessionCalls)) {
    const detection_method = found?.look.url.pathname ?? null
    return {
      results: [
        result("mcp", "eligible", { confidence: "medium", endpoint_url: endpoint.href, detection_method, problems })
      ],
      answers: [answer("mcp_server", "unknown", "No call was left to confirm it.", { seen: found?.look })],
      needsAuth: false
    } satisfies McpFound
  }
  const opened = yield* open(surroundings.visit, endpoint)
  if (found === undefined && opened.tools === undefined && opened.call._tag === "Broken") return absent(looks)
  return told(opened, endpoint, found?.look.url.pathname ?? "the platform's endpoint", isPlatform, problems)
})
