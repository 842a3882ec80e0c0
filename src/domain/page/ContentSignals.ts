/** What a site says its content may be used for. */
export interface ContentSignals {
  /** Of `Content-Signal` lines: `search`, `ai-input`, `ai-train`; the last word for each stands. */
  readonly signals: ReadonlyMap<string, boolean>
  /** Of `Content-Usage` (IETF aipref), as it is written. */
  readonly usage: string | null
  /** The first line that says something, for evidence. */
  readonly marker: string | null
}

const characters = 524_288

const signalsIn = (value: string): ReadonlyArray<readonly [string, boolean]> =>
  value
    .slice(0, 500)
    .split(/[,;]/)
    .flatMap((pair) => {
      const found = /^\s*([a-z][a-z-]{0,30})\s*=\s*(yes|no|true|false|y|n)\s*$/i.exec(pair)
      return found?.[1] === undefined ? [] : [[found[1].toLowerCase(), /^[yt]/i.test(found[2] ?? "")] as const]
    })

/** Reads them from a robots.txt and, where there is one, the `Content-Usage` header of a page. */
export const readContentSignals = (robots: string, usageHeader: string | null = null): ContentSignals => {
  const signals = new Map<string, boolean>()
  let usage = usageHeader?.slice(0, 500) ?? null
  let marker = usage === null ? null : `Content-Usage: ${usage}`
  for (const line of robots.slice(0, characters).split(/\r\n?|\n/)) {
    const found = /^\s{0,20}content-(signal|usage)\s{0,20}:(.{0,600})/i.exec(line)
    const value = found?.[2]?.replace(/#.*/, "").trim()
    if (found === null || value === undefined || value === "") continue
    if (found[1]?.toLowerCase() === "usage") usage ??= value.slice(0, 500)
    for (const [name, allowed] of found[1]?.toLowerCase() === "signal" ? signalsIn(value) : [])
      signals.set(name, allowed)
    marker ??= line.trim().slice(0, 300)
  }
  return { signals, usage, marker: signals.size === 0 && usage === null ? null : marker }
}
