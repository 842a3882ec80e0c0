// Well-known documents of a site, and how what was seen of them is told.
import { Effect } from "effect"
import { openingOf } from "#domain/page/Document.ts"
import { jsonLimits, readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { type Problem, problemLine } from "#domain/protocol/Problems.ts"
import type { Answer, QuestionId } from "#domain/Rubric.ts"
import type { Protocol, ProtocolResult } from "#domain/Scan.ts"
import type { SiteOutcome, Visit } from "../../SiteVisits.ts"
import { openingLength } from "../Looking.ts"

/** An address that was asked for, with what came of it. */
export interface Asked {
  readonly url: URL
  readonly outcome: SiteOutcome
}
/**
 * A document: there as JSON; not there (404, or the page that the site answers to everything); there but unreadable; or not seen, which
 * says nothing about it.
 */
export type Look =
  | (Asked & { readonly _tag: "Json"; readonly value: unknown })
  | (Asked & { readonly _tag: "Absent" | "Broken" | "Unseen"; readonly why: string })

/** Statuses by which something else answered than the site's own files. */
const walls = [401, 403, 407, 429]

const judge = (url: URL, outcome: SiteOutcome): Look => {
  const not = (_tag: "Absent" | "Broken" | "Unseen", why: string): Look => ({ _tag, why, url, outcome })
  if (outcome._tag === "NoAnswer") {
    return not("Unseen", `could not be asked: ${outcome.reason === "budget" ? outcome.detail : outcome.reason}`)
  }
  const { challenge, status } = outcome
  if (challenge !== undefined) return not("Unseen", `a wall of ${challenge.vendor} answered`)
  if (walls.includes(status)) return not("Unseen", `answered ${status}, as a wall does`)
  if (status >= 500 && status !== 501) return not("Unseen", `answered ${status}, which may pass`)
  if (status < 200 || status >= 300) return not("Absent", `answered ${status}`)
  const { contentType, document, isTruncated, text } = outcome
  const isCut = isTruncated && text.length <= jsonLimits.characters
  const read = readBoundedJson(isCut ? "" : text)
  if (read._tag === "Json") return { _tag: "Json", value: read.value, url, outcome }
  const isPage = /^\s*</.test(openingOf(document, openingLength)) || /\bhtml\b/i.test(contentType)
  if (isPage) return not("Absent", `answered ${status} with a page`)
  // What we cut ourselves may well be right.
  return isCut ? not("Unseen", "is longer than we read") : not("Broken", `is ${read.why}`)
}

/** Asks for a document of the site, and keeps no more of it than its value and what evidence is taken from. */
export const lookAt = (visit: Visit, path: string): Effect.Effect<Look> => {
  const url = new URL(path, visit.reached())
  return Effect.map(visit.ask({ url: path, accept: "application/json", isDocument: true }), (outcome) => {
    if (outcome._tag === "NoAnswer") return judge(url, outcome)
    const look = judge(outcome.url, outcome)
    visit.letGo(outcome, openingLength)
    return look
  })
}

const folded = (text: string): string => text.slice(0, 1_000).replace(/\s+/g, " ").trim().slice(0, 300)

export const evidenceOf = ({ outcome, url }: Asked, snippet?: string): NonNullable<Answer["evidence"]> => {
  const address = url.href.slice(0, 2000)
  if (outcome._tag === "NoAnswer")
    return {
      url: address,
      status: null,
      snippet: `${outcome.reason} ${outcome.detail}`.slice(0, 300),
      ms: Math.round(outcome.ms)
    }
  return {
    url: address,
    status: outcome.status,
    snippet: folded(snippet ?? openingOf(outcome.document, openingLength)),
    ms: Math.round(outcome.ms)
  }
}

/** The address of an answer, or else the one that was asked for. */
export const askedFor = (url: URL, outcome: SiteOutcome): Asked => ({
  url: outcome._tag === "Answered" ? outcome.url : url,
  outcome
})

/** An answer to a question. */
export const answer = (
  id: QuestionId,
  status: Answer["status"],
  message: string,
  more: { readonly seen?: Asked | undefined; readonly fix?: string; readonly share?: number } = {}
): Answer => ({
  id,
  status,
  message: message.slice(0, 500),
  evidence: more.seen === undefined ? null : evidenceOf(more.seen),
  fix: more.fix ?? null,
  ...(more.share === undefined ? {} : { share: more.share })
})

export interface ResultParts extends Partial<Omit<ProtocolResult, "protocol" | "status" | "problems">> {
  readonly problems?: ReadonlyArray<Problem | string>
}

/** What is told of a protocol; whatever is not known is null. */
export const result = (
  protocol: Protocol,
  status: ProtocolResult["status"],
  parts: ResultParts = {}
): ProtocolResult => ({
  protocol,
  status,
  confidence: parts.confidence ?? "high",
  version: parts.version ?? null,
  detection_method: parts.detection_method ?? null,
  endpoint_url: parts.endpoint_url?.slice(0, 2000) ?? null,
  capabilities: (parts.capabilities ?? []).slice(0, 50),
  is_functional: parts.is_functional ?? null,
  response_time_ms: parts.response_time_ms ?? null,
  problems: (parts.problems ?? [])
    .slice(0, 20)
    .map((problem) => (typeof problem === "string" ? problem : problemLine(problem)).slice(0, 500))
})

/** What one protocol's probe found. */
export interface Found {
  readonly results: ReadonlyArray<ProtocolResult>
  readonly answers: ReadonlyArray<Answer>
}

/** The first problems, as the end of a message. */
export const firstOf = (problems: ReadonlyArray<Problem>): string => {
  const lines = problems.toSorted((a, b) => Number(b.isFatal) - Number(a.isFatal)).map(problemLine)
  return lines.length > 3 ? `${lines.slice(0, 3).join("; ")}; and ${lines.length - 3} more` : lines.join("; ")
}

/** Calls that may still be made. */
export interface Budget {
  take(calls: number): boolean
}
export const budgetOf = (calls: number): Budget => {
  let left = calls
  return {
    take: (wanted) => {
      if (wanted > left) return false
      left -= wanted
      return true
    }
  }
}
