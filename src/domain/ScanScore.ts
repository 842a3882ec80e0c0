import { type Answer, bands, gateCaps, groupWeights, type QuestionId, questionIds, rubric } from "./Rubric.ts"
import type {
  Band,
  Check,
  CheckGroup,
  Confidence,
  Gate,
  MerchantCategory,
  Recommendation,
  ScanFindings
} from "./Scan.ts"

/** What the answers are worth: the scored part of a scan's findings. */
export type Scored = Pick<
  ScanFindings,
  | "readiness_score"
  | "score_range"
  | "band"
  | "protocol_score"
  | "data_score"
  | "accessibility_score"
  | "checkout_score"
  | "confidence"
  | "gates"
  | "checks"
  | "recommendations"
>

/** A gate that is closed, and why. */
export interface ClosedGate {
  readonly id: Gate["id"]
  readonly message: string
}

export interface Judged {
  readonly answers: ReadonlyArray<Answer>
  readonly gates: ReadonlyArray<ClosedGate>
  /** Whose weights apply: of a shop, or of a site whose customers are programs or readers. */
  readonly kind: keyof typeof groupWeights
}

/** Whose weights apply: what the caller said of the merchant, else what the site looks like. */
export const kindOf = (category: MerchantCategory | null, model: ScanFindings["business_model"]): Judged["kind"] => {
  if (category !== null) return serviceCategories.has(category) ? "service" : "shop"
  return model === null || model === "retail" || model === "marketplace" ? "shop" : "service"
}
const serviceCategories: ReadonlySet<MerchantCategory> = new Set(["saas", "media", "fintech", "b2b"])

/** The same answers give the same score. A question without an answer is unknown. */
export const score = ({ answers, gates, kind }: Judged): Scored => {
  const given = new Map(answers.map((answer) => [answer.id, answer]))
  const checks = questionIds.map((id) => checkOf(id, given.get(id)))
  const weights = groupWeights[kind]
  const closed = gates.map(({ id, message }): Gate => ({ id, cap: gateCaps[id], message }))
  const cap = (gates: ReadonlyArray<{ readonly cap: number }>) => Math.min(100, ...gates.map((gate) => gate.cap))
  const now = totalOf(checks, weights)
  const low = totalOf(checks.map(settled("fail")), weights)
  const high = totalOf(checks.map(settled("pass")), weights)
  // What was left out for being too little still bounds what the score can be.
  const isToldOf = gates.length > 0 || isEnough(checks)
  const possible = now === null || !isToldOf ? null : Math.min(Math.max(now, low ?? 0), high ?? 100)
  const readiness_score = possible === null ? null : Math.round(Math.min(possible, cap(closed)))
  const unseen = Object.entries(gateQuestions).flatMap(([id, gate]) =>
    checks.some((check) => check.id === id && check.status === "unknown") ? [{ cap: gateCaps[gate] }] : []
  )
  return {
    checks,
    readiness_score,
    score_range:
      now === null || low === null || high === null
        ? null
        : {
            low: Math.round(Math.min(low, cap([...closed, ...unseen]))),
            high: Math.round(Math.min(high, cap(closed)))
          },
    band: readiness_score === null ? null : bandOf(readiness_score),
    protocol_score: rounded(groupScore(checks, "protocol")),
    data_score: rounded(groupScore(checks, "data")),
    accessibility_score: rounded(groupScore(checks, "accessibility")),
    checkout_score: rounded(groupScore(checks, "checkout")),
    confidence: now === null ? null : confidenceOf(checks, weights),
    gates: closed,
    recommendations: recommendationsOf(checks, weights, closed)
  }
}

const groups = ["accessibility", "data", "protocol", "checkout"] as const
type Weights = Readonly<Record<CheckGroup, number>>

/** The questions that a gate hangs on. */
const gateQuestions = {
  agents_not_challenged: "agents_challenged",
  robots_allows_agents: "robots_disallow_agents"
} as const

const values = { pass: 1, warn: 0.5, fail: 0, unknown: null, not_applicable: null } as const

const checkOf = (id: QuestionId, answer: Answer | undefined): Check => {
  const { group, points, spec, title } = rubric[id]
  const status = answer?.status ?? "unknown"
  const value = values[status] === null ? null : (answer?.share ?? values[status])
  return {
    id,
    group,
    title,
    status,
    points: value === null ? null : to(100, value * points),
    max_points: points,
    message: answer?.message ?? "This was not looked at.",
    evidence: answer?.evidence ?? null,
    fix: answer?.fix ?? null,
    spec
  }
}

/** The check as it would be if what is unknown of it turned out this way. */
const settled =
  (status: "pass" | "fail") =>
  (check: Check): Check =>
    check.status === "unknown" ? { ...check, status, points: status === "pass" ? check.max_points : 0 } : check

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
const pointsOf = (checks: ReadonlyArray<Check>) => sum(checks.map((check) => check.max_points))

/** How much of a group's points has to be seen for a score of it: a part that is too small says nothing about the whole. */
const leastSeen = 1 / 3

/** Of what is known and applies, in percent; null when that is too little. */
const groupScore = (checks: ReadonlyArray<Check>, group: CheckGroup): number | null => {
  const applicable = checks.filter((check) => check.group === group && check.status !== "not_applicable")
  const counted = applicable.filter((check) => check.points !== null)
  const possible = pointsOf(counted)
  if (possible === 0 || possible < leastSeen * pointsOf(applicable)) return null
  return (100 * sum(counted.map((check) => check.points ?? 0))) / possible
}

/** Whether there is something to see of a group, and too little was seen for a score. */
const isUnseen = (checks: ReadonlyArray<Check>, group: CheckGroup): boolean =>
  groupScore(checks, group) === null &&
  checks.some((check) => check.group === group && check.status !== "not_applicable" && check.max_points > 0)

/**
 * Whether enough was seen for a score of the whole: two groups, and of what makes a shop, its data or its checkout. How a door answers
 * says nothing of the house. A closed gate says enough by itself.
 */
const isEnough = (checks: ReadonlyArray<Check>): boolean =>
  groups.filter((group) => groupScore(checks, group) !== null).length >= 2 &&
  !(isUnseen(checks, "data") && isUnseen(checks, "checkout"))

/** A group without a score leaves the whole. */
const totalOf = (checks: ReadonlyArray<Check>, weights: Weights): number | null => {
  const known = groups.flatMap((group) => {
    const value = groupScore(checks, group)
    return value === null ? [] : [{ value, weight: weights[group] }]
  })
  const weight = sum(known.map((part) => part.weight))
  return weight === 0 ? null : sum(known.map((part) => part.value * part.weight)) / weight
}

/** How much of what applies was seen. A score of which 40 % or more is unknown says little. */
const confidenceOf = (checks: ReadonlyArray<Check>, weights: Weights): Confidence => {
  const shares = groups.flatMap((group) => {
    const applicable = checks.filter((check) => check.group === group && check.status !== "not_applicable")
    const possible = pointsOf(applicable)
    const unknown = pointsOf(applicable.filter((check) => check.status === "unknown"))
    return possible === 0 ? [] : [{ unknown: unknown / possible, weight: weights[group] }]
  })
  const weight = sum(shares.map((share) => share.weight))
  const unknown = weight === 0 ? 1 : sum(shares.map((share) => share.unknown * share.weight)) / weight
  if (unknown >= 0.4) return "low"
  return unknown >= 0.15 || groups.some((group) => isUnseen(checks, group)) ? "medium" : "high"
}

const bandOf = (score: number): Band => bands.find(([, least]) => score >= least)?.[0] ?? "not_ready"

/** What each fix would give if nothing else changed; before a closed gate is opened the others give it back only afterwards. */
const recommendationsOf = (
  checks: ReadonlyArray<Check>,
  weights: Weights,
  gates: ReadonlyArray<Gate>
): ReadonlyArray<Recommendation> => {
  const cap = Math.min(100, ...gates.map((gate) => gate.cap))
  // In a group without a score a fix is worth what it surely gives: as if everything unknown failed.
  const sure = checks.map(settled("fail"))
  const basisOf = (group: CheckGroup) => (isUnseen(checks, group) ? sure : checks)
  return checks
    .flatMap((check): ReadonlyArray<Recommendation> => {
      const { fix, id, spec, status } = check
      if (fix === null || (status !== "fail" && status !== "warn")) return []
      const basis = basisOf(check.group)
      const now = totalOf(basis, weights) ?? 0
      const passed = basis.map((other) =>
        other.id === id ? { ...other, status: "pass" as const, points: other.max_points } : other
      )
      const opens = gates.some((gate) => Object.entries(gateQuestions).some(([q, g]) => q === id && g === gate.id))
      const gained = (totalOf(passed, weights) ?? 0) - (opens ? Math.min(now, cap) : now)
      const gain = to(10, Math.max(0, gained))
      return gain === 0 ? [] : [{ check: id, priority: priorityOf(gain, opens), gain, fix, spec }]
    })
    .toSorted((a, b) => b.gain - a.gain)
}

const priorityOf = (gain: number, opensGate: boolean): Recommendation["priority"] => {
  if (opensGate || gain >= 4) return "high"
  return gain >= 1.5 ? "medium" : "low"
}

const rounded = (value: number | null) => (value === null ? null : Math.round(value))
const to = (scale: 10 | 100, value: number) => Math.round(value * scale) / scale
