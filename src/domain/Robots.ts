/** How much of a robots.txt is read; RFC 9309 asks for at least this much. */
const robotsBytes = 512_000

/** A rule as it stands in the file. */
export interface RobotsRule {
  readonly allow: boolean
  readonly pattern: string
  readonly line: number
}

/** What is said to one or more crawlers together. */
export interface RobotsGroup {
  /** In lower case, without version; `*` is everybody who is not named. */
  readonly agents: ReadonlyArray<string>
  readonly rules: ReadonlyArray<RobotsRule>
}

/** A line of another kind, such as `Content-Signal`; `agents` are those of the group it stands in. */
export interface RobotsLine {
  /** In lower case. */
  readonly name: string
  readonly value: string
  readonly line: number
  readonly agents: ReadonlyArray<string>
}

/** A robots.txt, read. `access` says what it stands for when it is not a file with rules. */
export interface Robots {
  readonly access: "rules" | "allowed" | "disallowed"
  readonly groups: ReadonlyArray<RobotsGroup>
  /** As they are written; at most 100. */
  readonly sitemaps: ReadonlyArray<string>
  /** At most 200. */
  readonly lines: ReadonlyArray<RobotsLine>
}

/** Whether a crawler may fetch something, and what says so: null when nothing does. */
export interface RobotsVerdict {
  readonly isAllowed: boolean
  readonly rule: RobotsRule | null
  /** Which name the rules were found under. */
  readonly under: string | null
}

const maxSitemaps = 100
const maxLines = 200
/** As much of a path as is compared, in characters. */
const maxPath = 1024

const nothing = { groups: [], sitemaps: [], lines: [] }

/** By the answer to `/robots.txt`: what is not there allows everything, a server in trouble nothing (RFC 9309, 2.3.1). */
export const robotsOf = (status: number, text: string): Robots => {
  if (status >= 200 && status < 300) return readRobots(text)
  return { ...nothing, access: status >= 400 && status < 500 && status !== 429 ? "allowed" : "disallowed" }
}

/** Whether this is a page in place of the file: by how it begins, as many servers call the file itself `text/html`. */
export const isMarkup = (opening: string): boolean => /^\s*</.test(opening)

/** Reads a file. What is no line of a robots.txt is passed over. */
export const readRobots = (text: string): Robots => {
  const groups: Array<{ agents: Array<string>; rules: Array<RobotsRule> }> = []
  const sitemaps: Array<string> = []
  const lines: Array<RobotsLine> = []
  let group: (typeof groups)[number] | undefined
  let isNaming = false
  for (const [index, raw] of wholeLines(text).entries()) {
    const [, field = "", rest = ""] = /^[ \t]*([A-Za-z][A-Za-z -]{0,40}?)[ \t]*:([^#]*)/.exec(raw) ?? []
    const name = field.toLowerCase()
    const value = rest.trim()
    const line = index + 1
    if (name === "") continue
    if (name === "sitemap") {
      if (value !== "" && sitemaps.length < maxSitemaps) sitemaps.push(value)
      continue
    }
    if (name === "user-agent") {
      if (group === undefined || !isNaming) {
        group = { agents: [], rules: [] }
        groups.push(group)
      }
      isNaming = true
      if (value !== "") group.agents.push(agentName(value))
      continue
    }
    if (name === "allow" || name === "disallow") {
      // Other lines among the names of a group leave it one group (RFC 9309, 2.2.4).
      isNaming = false
      // An empty pattern matches nothing: `Disallow:` allows everything.
      if (value !== "") group?.rules.push({ allow: name === "allow", pattern: value, line })
    } else if (lines.length < maxLines) {
      lines.push({ name, value, line, agents: group?.agents ?? [] })
    }
  }
  return { access: "rules", groups, sitemaps, lines }
}

/** A line that the cap cuts would say something else. */
const wholeLines = (text: string): ReadonlyArray<string> => {
  const lines = text
    .slice(0, robotsBytes)
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\r|\n/)
  return text.length > robotsBytes ? lines.slice(0, -1) : lines
}

const agentName = (value: string): string => (value.split("/", 1)[0] ?? "").trim().toLowerCase()

/** The rules of those groups that speak to a crawler: the ones that name it, or else the ones for everybody. */
const rulesFor = (robots: Robots, agent: string) => {
  const name = agentName(agent)
  const spelled = spellingsOf(robots)
  const of = (wanted: string) => spelled.filter((_, index) => robots.groups[index]?.agents.includes(wanted))
  const named = of(name)
  if (named.length > 0) return { under: name, groups: named }
  const general = of("*")
  return { under: general.length > 0 ? "*" : null, groups: general }
}

/** Whether any group names this crawler, whatever it says. */
export const isNamed = (robots: Robots, agent: string): boolean =>
  robots.groups.some(({ agents }) => agents.includes(agentName(agent)))

/**
 * Judges a path with its query for one crawler: the longest rule decides, and of two as long the one that allows. In time that is
 * bounded by the file's length, whatever its patterns.
 */
export const robotsVerdict = (robots: Robots, agent: string, path: string): RobotsVerdict => {
  if (robots.access !== "rules") return { isAllowed: robots.access === "allowed", rule: null, under: null }
  const { groups, under } = rulesFor(robots, agent)
  const asked = upperEscapes(path.slice(0, maxPath))
  let rule: RobotsRule | null = null
  let length = -1
  for (const spelled of groups) {
    for (const candidate of spelled) {
      const isStronger = candidate.length > length || (candidate.length === length && candidate.rule.allow)
      if (!isStronger || !matches(candidate, asked)) continue
      rule = candidate.rule
      length = candidate.length
    }
  }
  return { isAllowed: rule?.allow ?? true, rule, under }
}

/** The verdict alone. */
export const robotsAllows = (robots: Robots, agent: string, path: string): boolean =>
  robotsVerdict(robots, agent, path).isAllowed

const upperEscapes = (text: string): string => text.replace(/%[0-9a-f]{2}/gi, (escape) => escape.toUpperCase())

/** As the path of a URL is spelled, so that the two can be compared. */
const encoded = (pattern: string): string => {
  if (/^[\x21-\x7e]*$/.test(pattern) && !pattern.includes("%")) return pattern
  return upperEscapes(encodeURI(pattern.toWellFormed()).replaceAll("%25", "%"))
}

/** A rule as it is compared: what its path begins with, what follows somewhere, and what it ends with. */
interface Spelled {
  readonly rule: RobotsRule
  /** Of the whole pattern. */
  readonly length: number
  readonly first: string
  readonly parts: ReadonlyArray<string>
  readonly last: string | undefined
  readonly isWhole: boolean
}

const spell = (rule: RobotsRule): Spelled => {
  const pattern = encoded(rule.pattern)
  const isWhole = pattern.endsWith("$")
  const [first = "", ...parts] = (isWhole ? pattern.slice(0, -1) : pattern).split("*")
  const last = parts.pop()
  return { rule, length: pattern.length, first, parts, last, isWhole }
}

/** Those of each group. A long file is asked often: about each page of a shop, and for each crawler. */
const spellings = new WeakMap<Robots, ReadonlyArray<ReadonlyArray<Spelled>>>()
const spellingsOf = (robots: Robots): ReadonlyArray<ReadonlyArray<Spelled>> => {
  const known = spellings.get(robots)
  if (known !== undefined) return known
  const spelled = robots.groups.map(({ rules }) => rules.map(spell))
  spellings.set(robots, spelled)
  return spelled
}

/** `*` stands for anything, a `$` at the end for the end. The first place where a part fits leaves most for the rest. */
const matches = ({ first, isWhole, last, parts }: Spelled, path: string): boolean => {
  if (!path.startsWith(first)) return false
  if (last === undefined) return !isWhole || path.length === first.length
  let at = first.length
  for (const part of parts) {
    const found = part.length > path.length - at ? -1 : path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  if (last.length > path.length - at) return false
  return isWhole ? path.endsWith(last) : path.indexOf(last, at) >= 0
}
