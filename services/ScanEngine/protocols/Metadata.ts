// Protocols that are judged by a document alone, or by what others declare: OAuth, API catalogue, AP2, card networks.
import { hasAp2 } from "#domain/protocol/A2aCard.ts"
import type { Problem } from "#domain/protocol/Problems.ts"
import { judgeAuthorizationServer, judgeProtectedResource, readApiCatalog } from "#domain/protocol/ServiceMetadata.ts"
import type { Answer } from "#domain/Rubric.ts"
import type { A2aFound } from "./A2aProbe.ts"
import { answer, askedFor, firstOf, type Found, type Look, result } from "./Look.ts"
import { describedApi } from "./PageProbes.ts"
import type { Surroundings } from "./Surroundings.ts"
import type { UcpFound } from "./UcpProbe.ts"

export const identityLinking = "dev.ucp.common.identity_linking"
const ap2Mandate = "dev.ucp.shopping.ap2_mandate"

/** A document that was judged: right, right with notes, or wrong. */
const judged = (id: Answer["id"], name: string, problems: ReadonlyArray<Problem>, look: Look): Answer => {
  if (problems.length === 0) return answer(id, "pass", `${name} is valid.`, { seen: look })
  const status = problems.some(({ isFatal }) => isFatal) ? "fail" : "warn"
  const fix = `Correct ${look.url.pathname}: ${firstOf(problems)}.`
  return answer(id, status, `${name}: ${firstOf(problems)}.`, { seen: look, fix })
}

/** Asked of those who need it only: shops that link accounts over UCP, and MCP servers that want a token. */
export const judgeOAuth = (isNeeded: boolean, looks: ReadonlyArray<Look>): Answer => {
  if (!isNeeded) return answer("oauth_metadata", "not_applicable", "Nothing here asks agents for a token.")
  for (const look of looks) {
    if (look._tag !== "Json") continue
    const server = judgeAuthorizationServer(look.value, look.url)
    if (server !== undefined) return judged("oauth_metadata", "The authorization server's metadata", server, look)
    const resource = judgeProtectedResource(look.value, look.url)
    if (resource !== undefined) return judged("oauth_metadata", "The protected resource's metadata", resource, look)
  }
  const [look] = looks
  if (look === undefined || looks.some(({ _tag }) => _tag === "Unseen")) {
    return answer("oauth_metadata", "unknown", "The metadata could not be asked for.", { seen: look })
  }
  const fix =
    "Publish /.well-known/oauth-authorization-server (RFC 8414), and /.well-known/oauth-protected-resource (RFC 9728) for MCP."
  return answer("oauth_metadata", "fail", "Agents need a token here, but nothing says where it comes from.", {
    seen: look,
    fix
  })
}

export const judgeApiCatalog = (surroundings: Surroundings, look: Look | undefined): Answer => {
  const catalog = look?._tag === "Json" ? readApiCatalog(look.value) : undefined
  if (look !== undefined && catalog !== undefined)
    return judged("api_catalog", "The API catalogue", catalog.problems, look)
  const described = describedApi(surroundings)
  if (described !== undefined && surroundings.home !== undefined) {
    const seen = askedFor(surroundings.home.answer.url, surroundings.home.answer)
    return answer("api_catalog", "pass", `The home page links to a description of the API: ${described.pathname}.`, {
      seen
    })
  }
  if (surroundings.isRetail) return answer("api_catalog", "not_applicable", "A shop for people needs no API catalogue.")
  if (look === undefined || look._tag === "Unseen") {
    return answer("api_catalog", "unknown", "The API catalogue could not be asked for.", { seen: look })
  }
  const fix =
    "Publish a linkset at /.well-known/api-catalog (RFC 9727), or link to your OpenAPI description with rel=service-desc."
  return answer("api_catalog", "fail", "Nothing says where the API is described.", { seen: look, fix })
}

/** AP2 is declared by what carries it. Mandates are signed by people, so no scan can try them. */
export const judgeAp2 = (
  ucp: UcpFound,
  a2a: A2aFound,
  looks: { readonly ucp: Look; readonly card: Look | undefined }
): Found => {
  const overUcp = ucp.profile?.capabilities.includes(ap2Mandate) === true
  const overA2a = a2a.card !== undefined && hasAp2(a2a.card)
  if (overUcp || overA2a) {
    const works = [overUcp ? ucp : undefined, overA2a ? a2a : undefined].some((found) =>
      found?.results.some(({ is_functional }) => is_functional === true)
    )
    const seen = overUcp ? looks.ucp : looks.card
    const carrier = overUcp ? "UCP" : "A2A"
    const ap2 = result("ap2", "eligible", {
      confidence: works ? "high" : "medium",
      detection_method: overUcp ? `the UCP capability ${ap2Mandate}` : "an extension of the A2A card",
      endpoint_url: seen?.url.href ?? null
    })
    const message = `AP2 is declared over ${carrier}, ${works ? "which works" : "which no call confirmed"}.`
    return {
      results: [ap2],
      answers: [works ? answer("ap2", "pass", message, { seen }) : answer("ap2", "warn", message, { seen, share: 0.5 })]
    }
  }
  if (ucp.isUnseen || a2a.isUnseen) {
    const message = "Whoever would declare AP2 could not be seen."
    return {
      results: [result("ap2", "unknown", { confidence: "low" })],
      answers: [answer("ap2", "unknown", message, { seen: ucp.isUnseen ? looks.ucp : looks.card })]
    }
  }
  const fix = `Declare the UCP capability ${ap2Mandate}, and sign checkouts with a published key (https://ap2-protocol.org/).`
  return {
    results: [result("ap2", "not_detected")],
    answers: [answer("ap2", "fail", "Neither UCP nor A2A declares AP2 mandates.", { seen: looks.ucp, fix })]
  }
}

/** Programmes of card networks have no public discovery: nothing can be said for or against a shop. */
export const cardProgrammes: Found = {
  results: [
    result("visa_vic", "not_applicable", { confidence: "low" }),
    result("mastercard_agentpay", "not_applicable", { confidence: "low" })
  ],
  answers: [
    answer("card_programmes", "not_applicable", "Programmes of card networks cannot be discovered from outside.")
  ]
}
