import { Effect } from "effect"
import type { Visit } from "../SiteVisits.ts"
import { probeA2a } from "./protocols/A2aProbe.ts"
import { probeAcp } from "./protocols/AcpProbe.ts"
import { budgetOf, type Look, lookAt } from "./protocols/Look.ts"
import { probeMcp } from "./protocols/McpProbe.ts"
import { cardProgrammes, identityLinking, judgeAp2, judgeApiCatalog, judgeOAuth } from "./protocols/Metadata.ts"
import { describedApi, probeNlWeb, probeWebMcp } from "./protocols/PageProbes.ts"
import type { ProtocolFindings, Surroundings } from "./protocols/Surroundings.ts"
import { probeUcp } from "./protocols/UcpProbe.ts"
import { probeX402 } from "./protocols/X402Probe.ts"

export type { ProtocolFindings, Surroundings } from "./protocols/Surroundings.ts"

/** What all probes together may ask: documents at well-known paths, and calls of what they declare. */
const protocolLimits = { documents: 7, calls: 5 }

/** The documents that are asked for whatever the site is. */
export interface Documents {
  readonly ucp: Look
  readonly acp: Look
  readonly x402: Look
  readonly agentCard: Look
  readonly mcpCard: Look
}
/** How many documents the first part asks for. */
const firstDocuments = 5

/** The first part: five documents. It needs to know nothing of the site, so it runs beside the home page. */
export const documents = (visit: Visit): Effect.Effect<Documents> =>
  Effect.all(
    {
      ucp: lookAt(visit, "/.well-known/ucp"),
      acp: lookAt(visit, "/.well-known/acp.json"),
      x402: lookAt(visit, "/.well-known/x402"),
      agentCard: lookAt(visit, "/.well-known/agent-card.json"),
      mcpCard: lookAt(visit, "/.well-known/mcp/server-card.json")
    },
    { concurrency: firstDocuments }
  )

/** Paths that are asked only where something points to them or the first answer was no; the likeliest first. */
const morePaths = (
  surroundings: Surroundings,
  found: Documents,
  wants: { readonly oauth: boolean; readonly mcp: boolean }
) => [
  ...(wants.oauth ? ["/.well-known/oauth-authorization-server"] : []),
  ...(surroundings.isRetail && describedApi(surroundings) === undefined ? [] : ["/.well-known/api-catalog"]),
  ...(wants.mcp && found.mcpCard._tag === "Absent" ? ["/.well-known/mcp.json"] : []),
  ...(found.agentCard._tag === "Absent" ? ["/.well-known/agent.json"] : [])
]

/**
 * The second part: calls what the documents declare, at most five times, after at most two more documents. What was declared but not
 * called for want of calls is unknown.
 */
export const calls = Effect.fn("Protocols.calls")(function* (surroundings: Surroundings, found: Documents) {
  const { visit } = surroundings
  const budget = budgetOf(protocolLimits.calls)
  const ucp = yield* probeUcp(surroundings, found.ucp, budget)
  const linksAccounts = ucp.profile?.capabilities.includes(identityLinking) === true
  const more = budgetOf(protocolLimits.documents - firstDocuments)
  const wants = { oauth: linksAccounts, mcp: ucp.mcp === undefined && surroundings.platform !== "shopify" }
  const paths = morePaths(surroundings, found, wants).filter(() => more.take(1))
  const looks = new Map(
    yield* Effect.forEach(paths, (path) => Effect.map(lookAt(visit, path), (look) => [path, look] as const), {
      concurrency: protocolLimits.documents
    })
  )
  const also = (path: string): ReadonlyArray<Look> => {
    const look = looks.get(path)
    return look === undefined ? [] : [look]
  }
  // Each takes its calls when it begins, so they are given out in this order.
  const [mcp, acp, x402, a2a, nlweb] = yield* Effect.all(
    [
      probeMcp(surroundings, [found.mcpCard, ...also("/.well-known/mcp.json")], ucp, budget),
      probeAcp(surroundings, found.acp, budget),
      probeX402(surroundings, found.x402, budget),
      probeA2a(surroundings, [found.agentCard, ...also("/.well-known/agent.json")], budget),
      probeNlWeb(surroundings, budget)
    ],
    { concurrency: protocolLimits.calls + 1 }
  )
  // An MCP server that wants a token is known only now; the metadata takes the place of a document that was not asked for.
  const lateOAuth = mcp.needsAuth && !linksAccounts && more.take(1)
  const oauth = [
    ...also("/.well-known/oauth-authorization-server"),
    ...(lateOAuth ? [yield* lookAt(visit, "/.well-known/oauth-protected-resource")] : [])
  ]
  const ap2 = judgeAp2(ucp, a2a, { ucp: found.ucp, card: found.agentCard })
  const all = [ucp, acp, x402, ap2, mcp, a2a, nlweb, probeWebMcp(surroundings), cardProgrammes]
  const findings: ProtocolFindings = {
    results: all.flatMap(({ results }) => results),
    answers: [
      ...all.flatMap(({ answers }) => answers),
      judgeOAuth(linksAccounts || mcp.needsAuth, oauth),
      judgeApiCatalog(surroundings, looks.get("/.well-known/api-catalog"))
    ],
    paymentHandlers: ucp.profile?.paymentHandlers ?? [],
    ucp: ucp.access
  }
  return findings
})
