import { createHash } from "node:crypto"
import { html } from "../Html.ts"

/** A link where the address is one of the web, and plain text otherwise. */
export const link = (address: string, text = address): string =>
  /^https?:\/\//i.test(address)
    ? `<a href="${html(address)}" rel="nofollow noopener noreferrer">${html(text)}</a>`
    : html(text)

/** A sentence of ours, in which code stands between backquotes. */
export const prose = (text: string): string => html(text).replace(/`([^`]+)`/g, "<code>$1</code>")

/** `product_json_ld` as people read it. */
export const words = (identifier: string): string => identifier.replaceAll("_", " ")

const style = `:root{--ink:#1b1f24;--faint:#59636e;--line:#d8dee4;--paper:#fff;--soft:#f6f8fa;--good:#1a7f37;--half:#9a6700;--bad:#cf222e;--link:#0b57d0}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--faint:#9198a1;--line:#3d444d;--paper:#0d1117;--soft:#161b22;--good:#3fb950;--half:#d29922;--bad:#f85149;--link:#8ab4f8}}
*{box-sizing:border-box}body{font:1rem/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:0 auto;padding:2rem 1rem 4rem;overflow-wrap:anywhere}
h1{font-size:1.75rem;margin:0}h2{font-size:1.2rem;margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}h3{font-size:1rem;margin:0}
p{margin:.25rem 0}.faint{color:var(--faint)}.small{font-size:.875rem}a{color:var(--link)}a:focus-visible,summary:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.scores{display:flex;flex-wrap:wrap;gap:.75rem;margin:1.5rem 0;padding:0;list-style:none}.scores li{flex:1 1 8rem;border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}
.scores b{display:block;font-size:1.75rem;line-height:1.2}.scores .main{flex-basis:14rem;background:var(--soft)}.scores .main b{font-size:2.5rem}
.item{border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.5rem 0}.item header{display:flex;flex-wrap:wrap;gap:.25rem .75rem;align-items:baseline}.item header .small{margin-left:auto}
.tag{font-size:.8rem;font-weight:600;border:1px solid currentColor;border-radius:1rem;padding:0 .6rem;white-space:nowrap}.good{color:var(--good)}.half{color:var(--half)}.bad{color:var(--bad)}
pre{background:var(--soft);border-radius:.4rem;padding:.6rem;margin:.5rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}
table{border-collapse:collapse;width:100%;font-size:.875rem}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}th{white-space:nowrap}
.wide{overflow-x:auto}.wide table{min-width:44rem}details{margin:.5rem 0}summary{cursor:pointer}ol{padding-left:1.25rem}li{margin:.35rem 0}code{font-size:.9em}.lead{margin:1rem 0}td:first-child{white-space:nowrap}@media print{body{max-width:none}details::details-content{content-visibility:visible;block-size:auto}}`

const styleHash = createHash("sha256").update(style).digest("base64")

/** What goes with a report: it loads nothing but the icon, for which Firefox asks the policy, runs nothing, and is shown in no frame. */
export const pageHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; img-src 'self'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-robots-tag": "noindex"
}

/** A whole page around `body`, which is HTML already. */
export const page = (title: string, body: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

/** How a status looks: its word, and whether that is good news. */
const looks: Readonly<Record<string, readonly [word: string, kind: string]>> = {
  pass: ["Passed", "good"],
  passed: ["Passed", "good"],
  confirmed: ["Works", "good"],
  warn: ["Partly", "half"],
  warning: ["Warning", "half"],
  degraded: ["With difficulty", "half"],
  partial: ["Partial", "half"],
  eligible: ["Declared", "half"],
  platform_enabled: ["By the platform", "good"],
  fail: ["Failed", "bad"],
  failed: ["Failed", "bad"],
  blocking: ["Blocking", "bad"],
  unknown: ["Not observed", "faint"],
  not_applicable: ["Does not apply", "faint"],
  not_detected: ["Not found", "faint"],
  skipped: ["Not reached", "faint"]
}

/** The status as a label; its word says what its colour says. */
export const tag = (status: string): string => {
  const [word, kind] = looks[status] ?? [words(status), "faint"]
  return `<span class="tag ${kind}">${html(word)}</span>`
}

/** Every request that was made, folded away. */
export const requestsTable = (
  requests: ReadonlyArray<{
    readonly method: string
    readonly url: string
    readonly user_agent: string
    readonly status: number | null
    readonly failure: string | null
    readonly ms: number
    readonly bytes: number
  }>
): string => {
  const rows = requests.map(
    ({ bytes, failure, method, ms, status, url, user_agent }) =>
      `<tr><td>${html(method)}</td><td>${html(url)}</td><td>${html(String(status ?? failure ?? ""))}</td><td>${ms}&nbsp;ms</td>` +
      `<td>${bytes}&nbsp;B</td><td>${html(user_agent)}</td></tr>`
  )
  return `<details><summary>${requests.length} requests, exactly as they were sent</summary><div class="wide" role="region" aria-label="Requests" tabindex="0"><table>
<thead><tr><th>Method</th><th>Address</th><th>Answer</th><th>Time</th><th>Size</th><th>As</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></div></details>`
}
