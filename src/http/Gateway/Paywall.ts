import { createHash } from "node:crypto"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { html } from "../Html.ts"

/** What a page says about a call that has not been paid for. */
export interface PaywallFacts {
  /** What the endpoint is for. */
  readonly title: string
  readonly method: string
  /** The whole address that was called. */
  readonly url: string
  /** The address of the endpoint alone, for calls whose own is too long to show. */
  readonly gatewayUrl: string
  /** A decimal. */
  readonly price: string
  readonly currency: string
  readonly network: string
  /** Where our own payments are made. */
  readonly payUrl: string
  readonly docsUrl: string
  readonly environment: "sandbox" | "live"
}

const style = `body{font:1rem/1.6 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.4rem;margin:0 0 .5rem;overflow-wrap:anywhere}h2{font-size:1rem;margin:1.5rem 0 .25rem}
p{margin:.25rem 0}.price{font-size:2rem;font-weight:600}
pre{background:#f3f3f3;color:#1a1a1a;padding:.75rem;border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere}
a{color:#0b57d0}a:focus-visible,pre:focus-visible{outline:3px solid #0b57d0;outline-offset:2px}
@media (prefers-color-scheme:dark){body{color:#eee;background:#161616}pre{background:#262626;color:#eee}a{color:#8ab4f8}}`

const styleHash = createHash("sha256").update(style).digest("base64")

/** What goes with the page, in place of the headers of the same names of other 402s. It loads nothing but the icon, and runs nothing. */
export const paywallHeaders: RawHeaders = [
  "Content-Type",
  "text/html; charset=utf-8",
  "Content-Security-Policy",
  `default-src 'none'; img-src 'self'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "Referrer-Policy",
  "no-referrer"
]

/** One word of a POSIX shell, whatever is in it. */
const word = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const shortened = (text: string, longest: number): string => {
  const letters = [...text]
  return letters.length <= longest ? text : `${letters.slice(0, longest - 1).join("")}…`
}

/** What our client pays in a day unless it is told otherwise: a call that costs more it would refuse. */
const usualDay = 10

/** A longer address, as the page has to write it, would make the page large. */
const longestAddress = 500

/** The page that people see where programs see a version 1 body. Below 8 KB whatever it is about. */
export const paywallPage = (facts: PaywallFacts): string => {
  const { currency, docsUrl, environment, method, network, payUrl, price } = facts
  const title = shortened(facts.title, 150)
  const fits = html(word(JSON.stringify(facts.url))).length <= longestAddress
  const url = fits ? facts.url : facts.gatewayUrl
  const call = method === "GET" ? `curl -i ${word(url)}` : `curl -i -X ${method} ${word(url)}`
  const order = JSON.stringify({ url, from_wallet_id: "wal_YOURS" })
  const pay =
    `curl -X POST ${word(payUrl)} \\\n  -H 'Authorization: Bearer YOUR_KEY' -H 'Content-Type: application/json' \\\n` +
    `  -d ${word(order)}`
  const baseUrl = JSON.stringify(payUrl.replace(/\/v1\/x402\/pay$/, ""))
  const caps = `maxPerCall: "${price}"${Number(price) > usualDay ? `, maxPerDay: "${price}"` : ""}`
  const client =
    `import { payingFetch } from "turnpike/client"\n` +
    `const fetch = payingFetch({ baseUrl: ${baseUrl}, apiKey, wallet, ${caps} })\n` +
    `await fetch(${JSON.stringify(url)}${method === "GET" ? "" : `, { method: "${method}" }`})`
  const test = environment === "sandbox" ? "<p>This is the sandbox: the money is test money.</p>\n" : ""
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Payment required: ${html(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${html(title)}</h1>
<p class="price">${html(price)} ${html(currency)}</p>
<p>for one ${html(method)} call, on ${html(network)}. Nothing is charged until the call is answered.</p>
${test}<h2>With a program</h2>
<p>Every client of x402 pays this address by itself: the price and the ways to pay are in the header
<code>PAYMENT-REQUIRED</code> of this very answer. Ours does it from a wallet here:</p>
<pre tabindex="0" aria-label="A paying client">${html(client)}</pre>
<h2>By hand</h2>
<p>Pay, and call again with the proof you are given:</p>
<pre tabindex="0" aria-label="Commands to pay and to call">${html(pay)}
${html(call)} \\
  -H 'X-Payment-Proof: pp_PROOF'</pre>
<p><a href="${html(docsUrl)}">How it works</a></p>
</main>
</body>
</html>
`
}

const quality = (parameters: ReadonlyArray<string>): number => {
  const given = parameters
    .map((one) => /^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$/i.exec(one)?.[1])
    .find((q) => q !== undefined)
  return given === undefined ? 1 : Math.min(1, Number(given))
}

/** Whether a caller would rather have a page than JSON. Who does not say so is a program. */
export const wantsHtml = (accept: string | undefined): boolean => {
  if (accept === undefined || accept.length > 2_000) return false
  const wishes = new Map<string, number>()
  for (const part of accept.split(",")) {
    const [range = "", ...parameters] = part.split(";")
    wishes.set(range.trim().toLowerCase(), quality(parameters))
  }
  // The most specific range speaks for a type.
  const of = (...ranges: ReadonlyArray<string>) => wishes.get(ranges.find((range) => wishes.has(range)) ?? "") ?? 0
  return of("text/html", "text/*", "*/*") > of("application/json", "application/*", "*/*")
}
