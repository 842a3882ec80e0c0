/** Widths of Verdana at 11 px are close to this for every letter that a badge has. */
const letter = 6.6
const padding = 10

const colours = [
  [80, "#1a7f37"],
  [60, "#4c8a1c"],
  [40, "#9a6700"],
  [0, "#b42318"]
] as const

/** A badge for a merchant's own pages: the newest score, or why there is none. */
export const badge = (score: number | "not scanned" | "no score"): string => {
  const label = "agent readiness"
  const value = typeof score === "number" ? `${score}/100` : score
  const colour = typeof score === "number" ? colours.find(([from]) => score >= from)?.[1] : undefined
  const left = Math.round(label.length * letter) + padding
  const right = Math.round(value.length * letter) + padding
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}">
<title>${label}: ${value}</title>
<rect width="${left}" height="20" fill="#333a41"/><rect x="${left}" width="${right}" height="20" fill="${colour ?? "#59636e"}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,sans-serif" font-size="11"><text x="${left / 2}" y="14">${label}</text><text x="${left + right / 2}" y="14">${value}</text></g>
</svg>
`
}
