import type { Check, CheckGroup, MerchantScan } from "#domain/Scan.ts"
import { html } from "../Html.ts"
import { link, page, prose, requestsTable, tag, words } from "./Page.ts"

const groups: ReadonlyArray<readonly [CheckGroup, string]> = [
  ["accessibility", "Can an agent reach and operate the shop?"],
  ["data", "Can it understand what is for sale?"],
  ["checkout", "Can it buy?"],
  ["protocol", "Does the shop speak agents' protocols?"]
]

/** Worst first; what was not observed and what does not apply come last. */
const order = ["fail", "warn", "pass", "unknown", "not_applicable"]

const shown = (score: number | null, checks: ReadonlyArray<Check>) => {
  const unknown = checks.filter(({ status }) => status === "unknown").length
  const blind = unknown === 0 ? "" : `<span class="small faint">${unknown} of ${checks.length} not observed</span>`
  return `<b>${score ?? "–"}</b>${blind}`
}

const evidence = ({ evidence: seen }: Check): string => {
  if (seen === null) return ""
  const facts = [seen.status === null ? "no answer" : String(seen.status), seen.ms === null ? "" : `${seen.ms} ms`]
  const snippet = seen.snippet === null ? "" : `<pre>${html(seen.snippet)}</pre>`
  return `<p class="small faint">Seen at ${html(seen.url)} (${html(facts.filter((fact) => fact !== "").join(", "))})</p>${snippet}`
}

const checkOf = (check: Check): string => {
  const points =
    check.points === null ? "" : `<span class="small faint">${check.points} of ${check.max_points} points</span>`
  const spec = check.spec === null ? "" : `<p class="small">${link(check.spec, "The standard")}</p>`
  const fix = check.fix === null ? "" : `<p><b>What to do:</b> ${prose(check.fix)}</p>`
  return `<section class="item" id="${html(check.id)}"><header>${tag(check.status)}<h3>${html(check.title)}</h3>${points}</header>
<p>${prose(check.message)}</p>${fix}${evidence(check)}${spec}</section>`
}

/** The checks of a group: what wants doing is open, the rest is folded away. */
const groupOf = (title: string, checks: ReadonlyArray<Check>): string => {
  const sorted = checks.toSorted((left, right) => order.indexOf(left.status) - order.indexOf(right.status))
  const urgent = sorted.filter(({ status }) => status === "fail" || status === "warn")
  const folded = [
    ["passed", sorted.filter(({ status }) => status === "pass")],
    [
      "not observed, or without meaning here",
      sorted.filter(({ status }) => /^(?:unknown|not_applicable)$/.test(status))
    ]
  ] as const
  const rest = folded.map(([what, some]) =>
    some.length === 0
      ? ""
      : `<details><summary>${some.length} ${what}</summary>${some.map(checkOf).join("\n")}</details>`
  )
  return `<h2>${title}</h2>${urgent.map(checkOf).join("\n")}${rest.join("\n")}`
}

const scoresOf = (scan: MerchantScan): string => {
  const range = scan.score_range
  if (scan.readiness_score === null)
    return range === null
      ? ""
      : `<p>Not enough of the site was seen for a score; it may be anything between ${range.low} and ${range.high}.</p>`
  const between =
    range === null || range.low === range.high
      ? ""
      : `<span class="small faint">between ${range.low} and ${range.high}, were everything known</span>`
  const parts = [
    ["Access", "accessibility", scan.accessibility_score],
    ["Data", "data", scan.data_score],
    ["Checkout", "checkout", scan.checkout_score],
    ["Protocols", "protocol", scan.protocol_score]
  ] as const
  const boxes = parts.map(([name, group, score]) => {
    const asked = scan.checks.filter((check) => check.group === group && check.status !== "not_applicable")
    return `<li>${name}${shown(score, asked)}</li>`
  })
  return `<ul class="scores"><li class="main">Readiness<b>${scan.readiness_score}<span class="small faint"> of 100</span></b>${html(words(scan.band ?? ""))} ${between}</li>
${boxes.join("\n")}</ul>`
}

const protocolsOf = (scan: MerchantScan): string => {
  const rows = scan.protocol_results.map(
    (one) =>
      `<tr><td>${html(one.protocol)}</td><td>${tag(one.status)}</td><td>${html(one.version ?? "")}</td>` +
      `<td>${html(one.endpoint_url ?? one.detection_method ?? "")}</td><td>${one.problems.map(html).join("<br>")}</td></tr>`
  )
  return `<h2>Protocols</h2><div class="wide" role="region" aria-label="Protocols" tabindex="0"><table><thead><tr><th>Protocol</th><th>State</th><th>Release</th><th>Where</th><th>What is wrong</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div>`
}

/** One remedy may answer several checks. */
const firstThings = (scan: MerchantScan): string => {
  const remedies = new Map<string, { readonly check: string; readonly gain: number }>()
  for (const { check, fix, gain } of scan.recommendations) {
    const known = remedies.get(fix)
    remedies.set(fix, { check: known?.check ?? check, gain: (known?.gain ?? 0) + gain })
  }
  const items = [...remedies].map(
    ([fix, { check, gain }]) =>
      `<li>${prose(fix)} <a class="small" href="#${html(check)}">evidence</a> <span class="small faint">up to ${Number(gain.toFixed(1))} points</span></li>`
  )
  return items.length === 0 ? "" : `<h2>What to do first</h2><ol>${items.join("\n")}</ol>`
}

/** A scan as a page that a merchant forwards to a colleague. */
export const scanReport = (scan: MerchantScan): string => {
  const name = scan.merchant_name ?? scan.domain
  const at = scan.scanned_at === null ? "" : scan.scanned_at.toISOString().replace("T", " ").slice(0, 16)
  const failure = scan.error_message === null ? "" : `<p class="item bad">${html(scan.error_message)}</p>`
  const gates = scan.gates.map(
    ({ cap, message }) => `<p class="item bad">${html(message)} The score is therefore at most ${cap}.</p>`
  )
  const sections = groups.map(([group, title]) => {
    const checks = scan.checks.filter((check) => check.group === group)
    return checks.length === 0 ? "" : groupOf(title, checks)
  })
  const age = scan.status === "stale" ? " This is more than a day old; the site may have changed." : ""
  const confidence = scan.confidence === null ? "" : `, confidence ${html(scan.confidence)}`
  const platform = scan.platform === null ? "" : ` Platform: ${html(scan.platform)}.`
  return page(
    `Agent readiness of ${name}`,
    `<header><p class="faint">Agent readiness</p><h1>${html(name)}</h1>
<p class="faint">${link(scan.url)} · ${at} UTC · rubric ${html(scan.rubric_version)}${confidence}.${platform}</p></header>
<p class="lead">More and more people let a program, a shopping agent, find and buy things for them. This page says whether such an agent can
reach this site, understand what is for sale, and buy it. A program looked at some public pages, as an agent would; it bought nothing.${age}</p>
${failure}${scoresOf(scan)}${gates.join("\n")}${firstThings(scan)}
${sections.join("\n")}
${scan.protocol_results.length === 0 ? "" : protocolsOf(scan)}
<h2>How this was seen</h2>
<p>As <code>${html(scan.vantage.user_agent)}</code>, network: ${html(scan.vantage.network)}, in ${scan.scan_duration_ms} ms. What a wall keeps from us it may let
others see: what could not be observed counts neither for nor against the site.</p>
${requestsTable(scan.requests)}
<p class="small faint">Scan ${html(scan.id)}</p>`
  )
}
