// Calls of a stranger's service. What is no answer of the protocol says whether that is the service's fault, or nothing about it.
import { Effect } from "effect"
import { type RpcRead, readRpcAnswer } from "#domain/protocol/JsonRpc.ts"
import type { SiteAnswer, SiteOutcome, SiteRequest, Visit } from "../../SiteVisits.ts"

/** A call that showed nothing: the visit could not ask, or a wall answered in the service's place. */
export interface Unseen {
  readonly _tag: "Unseen"
  readonly why: string
  readonly outcome: SiteOutcome
}
/** It answered, but not as the protocol has it: a page, an empty body, 501. */
export interface Broken {
  readonly _tag: "Broken"
  readonly why: string
  readonly outcome: SiteOutcome
}
/** It wants to know who calls first. */
export interface Guarded {
  readonly _tag: "Guarded"
  readonly outcome: SiteAnswer
}

const unseen = (why: string, outcome: SiteOutcome): Unseen => ({ _tag: "Unseen", why, outcome })
const broken = (why: string, outcome: SiteOutcome): Broken => ({ _tag: "Broken", why, outcome })

/** Names and addresses that no agent could call either. */
const nowhere: Readonly<Record<string, string>> = {
  forbidden_address: "its address is not public",
  name_not_found: "its host name does not exist",
  bad_request: "its address cannot be asked",
  too_many_redirects: "it redirects without end"
}

/** What an answer without a body of the protocol says. */
export const judgeSilence = (outcome: SiteOutcome, why: string): Unseen | Broken | Guarded => {
  if (outcome._tag === "NoAnswer") {
    const fault = nowhere[outcome.reason]
    if (fault !== undefined) return broken(fault, outcome)
    return unseen(`${outcome.reason}${outcome.detail === "" ? "" : `: ${outcome.detail}`}`, outcome)
  }
  const { challenge, status } = outcome
  if (challenge !== undefined) return unseen(`a wall of ${challenge.vendor} answered`, outcome)
  if (status === 401) return { _tag: "Guarded", outcome }
  if (status === 403 || status === 429) return unseen(`answered ${status}, as a wall does`, outcome)
  if (status === 502 || status === 503 || status === 504) return unseen(`answered ${status}, which may pass`, outcome)
  return broken(`answered ${status} with ${why}`, outcome)
}

export type RpcCall =
  | (RpcRead & { readonly _tag: "Result" | "RpcError" } & { readonly outcome: SiteAnswer })
  | Unseen
  | Broken
  | Guarded

/** JSON-RPC over HTTP, as MCP and A2A are spoken. */
const postRpc = (visit: Visit, endpoint: URL, message: object, headers: SiteRequest["headers"] = []) =>
  visit.ask({
    method: "POST",
    url: endpoint,
    accept: "application/json, text/event-stream",
    headers: [["Content-Type", "application/json"], ...headers],
    body: JSON.stringify({ jsonrpc: "2.0", ...message })
  })

/** Says something that has no answer of its own. */
export const notifyRpc = (visit: Visit, endpoint: URL, method: string, headers: SiteRequest["headers"]) =>
  Effect.asVoid(postRpc(visit, endpoint, { method }, headers))

/** Calls a method. */
export const callRpc = (
  visit: Visit,
  endpoint: URL,
  method: string,
  params: object,
  headers: SiteRequest["headers"] = []
): Effect.Effect<RpcCall> =>
  Effect.map(postRpc(visit, endpoint, { id: 1, method, params }, headers), (outcome): RpcCall => {
    if (outcome._tag === "NoAnswer" || outcome.challenge !== undefined) return judgeSilence(outcome, "")
    const read = readRpcAnswer(outcome.contentType, outcome.text, 1)
    return read._tag === "NotRpc" ? judgeSilence(outcome, read.why) : { ...read, outcome }
  })
