import { Effect } from "effect"
import { type A2aCard, type A2aInterface, judgeA2aCard } from "#domain/protocol/A2aCard.ts"
import type { Visit } from "../../SiteVisits.ts"
import { callRpc } from "./Calls.ts"
import { answer, askedFor, type Asked, type Budget, firstOf, type Found, type Look, result } from "./Look.ts"
import type { Surroundings } from "./Surroundings.ts"

export interface A2aFound extends Found {
  readonly card: A2aCard | undefined
  readonly isUnseen: boolean
}

const publish = "Publish the card of your agent at /.well-known/agent-card.json (https://a2a-protocol.org/)."

/** The card, at its path or at the one that it had before. */
const cardIn = (looks: ReadonlyArray<Look>): { readonly card: A2aCard; readonly look: Look } | undefined =>
  looks
    .flatMap((look) => {
      const card = look._tag === "Json" ? judgeA2aCard(look.value, look.url) : undefined
      return card === undefined ? [] : [{ card, look }]
    })
    .at(0)

const absent = (looks: ReadonlyArray<Look>): A2aFound => {
  const unseen = looks.find(({ _tag }) => _tag === "Unseen")
  const seen = unseen ?? looks[0]
  const why = seen !== undefined && "why" in seen ? seen.why : "is JSON, but no card of an agent"
  const message = `${seen?.url.pathname ?? "The card"} ${why}.`
  const isUnseen = unseen !== undefined
  return {
    results: [result("a2a", isUnseen ? "unknown" : "not_detected", { confidence: isUnseen ? "low" : "high" })],
    answers: [
      answer("a2a_card", isUnseen ? "unknown" : "fail", message, { seen, ...(isUnseen ? {} : { fix: publish }) })
    ],
    card: undefined,
    isUnseen
  }
}

/** Asks for a task that does not exist: whatever speaks the protocol says so in it. */
const call = Effect.fnUntraced(function* (visit: Visit, { url, version }: A2aInterface) {
  const isOld = version.startsWith("0.")
  const params = { id: "turnpike-no-such-task" }
  const headers = isOld ? [] : [["A2A-Version", "1.0"] as const]
  const called = yield* callRpc(visit, url, isOld ? "tasks/get" : "GetTask", params, headers)
  const seen: Asked = askedFor(url, called.outcome)
  switch (called._tag) {
    case "Result":
    case "RpcError":
      return { status: "pass", message: "The agent answers in A2A.", seen } as const
    case "Guarded":
      return {
        status: "warn",
        message: "The card is valid; the agent asks for credentials.",
        seen,
        share: 0.5
      } as const
    case "Unseen":
      return { status: "unknown", message: `The agent could not be judged: ${called.why}.`, seen } as const
    case "Broken": {
      const fix = `Serve A2A at ${url.href.slice(0, 200)}, or take the card away.`
      return {
        status: "fail",
        message: `The card names an agent that does not work: ${called.why}.`,
        seen,
        fix
      } as const
    }
  }
})

export const probeA2a = Effect.fnUntraced(function* (
  { visit }: Surroundings,
  looks: ReadonlyArray<Look>,
  budget: Budget
) {
  const found = cardIn(looks)
  if (found === undefined) return absent(looks)
  const { card, look } = found
  const spoken = card.interfaces.find(({ binding }) => binding.toUpperCase() === "JSONRPC")
  const parts = {
    version: card.version,
    detection_method: look.url.pathname,
    endpoint_url: (spoken ?? card.interfaces[0])?.url.href ?? null,
    capabilities: card.skills,
    problems: card.problems
  }
  if (!card.isValid) {
    const message = `The card is not valid: ${firstOf(card.problems)}.`
    const fix = `Correct ${look.url.pathname}: ${firstOf(card.problems)}.`
    return {
      results: [result("a2a", "eligible", { ...parts, confidence: "low", is_functional: false })],
      answers: [answer("a2a_card", "fail", message, { seen: look, fix })],
      card,
      isUnseen: false
    } satisfies A2aFound
  }
  if (spoken === undefined || !budget.take(1)) {
    const message = "The card is valid; its agent was not called."
    return {
      results: [result("a2a", "eligible", { ...parts, confidence: "medium" })],
      answers: [answer("a2a_card", "unknown", message, { seen: look })],
      card,
      isUnseen: false
    } satisfies A2aFound
  }
  const { message, seen, status, ...more } = yield* call(visit, spoken)
  const works = status === "pass"
  return {
    results: [
      result("a2a", works ? "confirmed" : "eligible", {
        ...parts,
        confidence: works ? "high" : "medium",
        is_functional: works ? true : status === "fail" ? false : null,
        response_time_ms: Math.round(seen.outcome.ms)
      })
    ],
    answers: [answer("a2a_card", status, message, { seen, ...more })],
    card,
    isUnseen: false
  } satisfies A2aFound
})
