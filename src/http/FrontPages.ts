import type { Environment } from "#domain/Principal.ts"
import { html } from "./Html.ts"
import { page } from "./Reports/Page.ts"

type Places = ReadonlyArray<readonly [path: string, what: string]>

const toBuy: Places = [
  ["/.well-known/x402.json", "what is for sale"],
  ["/v1/x402/discovery/openapi.json", "the same as an OpenAPI document"]
]

const toSell: Places = [
  ["/docs", "the API, to read and to try"],
  ["/docs/errors", "what every error code means"],
  ["/openapi.json", "the API for programs"],
  ["/docs/scanner", "who looks at shops from here, and how to keep it out"],
  ["/health/ready", "whether it is well"],
  ["/dashboard", "where to find figures and histories"]
]

/** A list of addresses of ours, each with what is there. */
const places = (publicUrl: string, entries: Places): string =>
  `<ul>${entries.map(([path, what]) => `<li><a href="${html(publicUrl + path)}">${path}</a>: ${what}</li>`).join("\n")}</ul>`

const money: Readonly<Record<Environment, string>> = {
  sandbox: "This is a sandbox: the money is test money, and no chain is touched.",
  live: "This is live: the money is real."
}

/** What browsers ask for by themselves, and show beside the title of a page: a barrier that is up. */
export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M3 15V9" stroke="#59636e" stroke-width="3"/>' +
  '<path d="M3 9 14 2" stroke="#cf222e" stroke-width="3"/></svg>'

/** What somebody finds who opens the address of this service. */
export const homePage = (publicUrl: string, environment: Environment): string =>
  page(
    "Turnpike",
    `<h1>Turnpike</h1>
<p class="lead">The toll road for agents: a gateway that charges for each call of an API, with wallets and transfers behind it.</p>
<p>${money[environment]}</p>
<h2>To buy</h2>
<p>Call what is for sale. It answers <code>402 Payment Required</code> with its price and the ways to pay; pay, and call again. Clients
of x402 and MPP do both by themselves.</p>
${places(publicUrl, toBuy)}
<h2>To sell, and everything else</h2>
${places(publicUrl, toSell)}`
  )

/** The same for language models, in the form of llmstxt.org. */
export const llmsText = (publicUrl: string, environment: Environment): string => {
  const listed = (entries: Places) =>
    entries.map(([path, what]) => `- [${path}](${publicUrl}${path}): ${what}`).join("\n")
  return `# Turnpike

> A toll road for agents: a gateway that charges for each call of an API, with wallets and transfers behind it. ${money[environment]}

Call what is for sale. It answers 402 with its price and the ways to pay: x402 version 2 in the header \`PAYMENT-REQUIRED\`, version 1 in
the body, MPP in \`WWW-Authenticate\`. Pay, and make the same call again with the payment: its answer comes with a receipt. From a wallet
here, without a signature: \`POST ${publicUrl}/v1/x402/pay\` with an API key or an agent's token and the \`payment_request_id\` of the 402,
then the call again with the \`proof\` in \`X-Payment-Proof\`. One proof pays one call, however often it is shown.

Amounts are decimal strings. What is refused says why as JSON, with a \`code\` that does not change.

## To buy

${listed(toBuy)}

## To sell, and everything else

${listed(toSell)}
`
}

/** Where the API has what people look for at this address. Each is an operation of the contract. */
export const dashboardPlaces: ReadonlyArray<readonly [what: string, operation: string]> = [
  ["Endpoints, with their calls and revenue", "GET /v1/x402/endpoints"],
  ["Calls, payers, revenue by window and top payers of one", "GET /v1/x402/endpoints/{id}/stats"],
  ["Its payments", "GET /v1/x402/endpoints/{id}/payments"],
  ["A test run by a simulated agent", "POST /v1/x402/endpoints/{id}/test"],
  ["Wallets and balances", "GET /v1/wallets"],
  ["The statement of one", "GET /v1/wallets/{id}/entries"],
  ["Transfers", "GET /v1/transfers"],
  ["Agents, and which are connected", "GET /v1/agents"],
  ["Webhooks", "GET /v1/webhooks"],
  ["The last 100 deliveries of one", "GET /v1/webhooks/{id}/deliveries"],
  ["Scans of shops", "GET /v1/scanner/scans"],
  ["Credits of the scanner", "GET /v1/scanner/credits/balance"],
  ["Keys", "GET /v1/api-keys"],
  ["People", "GET /v1/users"]
]

/** What is at the dashboard's address in a version without one. */
export const dashboardPage = (publicUrl: string): string =>
  page(
    "Turnpike: no dashboard yet",
    `<h1>There is no dashboard in this version</h1>
<p class="lead">What one would show is in the API, for the key in <code>credentials.json</code> or for whoever is logged in. Try it in the
<a href="${html(publicUrl)}/docs">reference</a>: Authorize takes the key.</p>
<ul>${dashboardPlaces.map(([what, operation]) => `<li>${html(what)}: <code>${html(operation)}</code></li>`).join("\n")}</ul>
<p class="lead"><a href="${html(publicUrl)}/">What is here</a></p>`
  )
