import { assert, describe, it } from "vitest"
import { headerValue } from "#domain/HttpHeaders.ts"
import { type PaywallFacts, paywallHeaders, paywallPage, wantsHtml } from "#http/Gateway/Paywall.ts"

const facts: PaywallFacts = {
  title: "Forecasts for any place",
  method: "GET",
  url: "https://turnpike.test/x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10?place=Oslo",
  gatewayUrl: "https://turnpike.test/x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
  price: "0.01",
  currency: "USDC",
  network: "base-sepolia",
  payUrl: "https://turnpike.test/v1/x402/pay",
  docsUrl: "https://turnpike.test/docs",
  environment: "sandbox"
}

/** What a reader of the page sees. */
const textOf = (page: string) =>
  page
    .replace(/<style>[\s\S]*?<\/style>/, "")
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")

describe("the page of a 402", () => {
  it("says what the call is, what it costs and where, and how to pay and call", () => {
    const text = textOf(paywallPage(facts))
    for (const said of [facts.title, "0.01 USDC", "base-sepolia", "PAYMENT-REQUIRED", facts.url]) {
      assert.include(text, said)
    }
    assert.include(text, `curl -X POST '${facts.payUrl}'`)
    assert.include(text, `-d '{"url":"${facts.url}","from_wallet_id":"wal_YOURS"}'`)
    assert.match(text, /curl -i 'https:[^']+' \\\n {2}-H 'X-Payment-Proof: /)
  })

  it("shows how our client pays from a wallet here, and no more than this price", () => {
    const text = textOf(paywallPage({ ...facts, method: "POST" }))
    assert.include(text, 'payingFetch({ baseUrl: "https://turnpike.test", apiKey, wallet, maxPerCall: "0.01" })')
    assert.include(text, `await fetch("${facts.url}", { method: "POST" })`)
  })

  it("lets our client pay once what costs more than it pays in a day by itself", () => {
    const shown = (price: string) => /wallet, (maxPer.*) \}\)/.exec(textOf(paywallPage({ ...facts, price })))?.[1]
    assert.strictEqual(shown("10.000001"), 'maxPerCall: "10.000001", maxPerDay: "10.000001"')
    assert.strictEqual(shown("10.00"), 'maxPerCall: "10.00"')
  })

  it("names the method in the command, unless it is the one that curl sends anyway", () => {
    assert.include(textOf(paywallPage({ ...facts, method: "POST" })), `curl -i -X POST '${facts.url}'`)
  })

  it("calls test money test money, and only in the sandbox", () => {
    assert.include(paywallPage(facts), "test money")
    assert.notInclude(paywallPage({ ...facts, environment: "live" }), "test money")
  })

  it("shows markup in a title or an address as text", () => {
    const nasty = `</pre></title><script>alert("1")</script><img src=x onerror='a'>&amp;`
    const page = paywallPage({ ...facts, title: nasty, url: `${facts.url}&x=${nasty}` })
    assert.notMatch(page, /<script|<img|<\/pre><\/title>/)
    assert.include(textOf(page), nasty)
  })

  it("writes commands that a shell reads as one address, whatever the address is", () => {
    const url = `${facts.gatewayUrl}?a='$(id)'`
    const text = textOf(paywallPage({ ...facts, url }))
    assert.include(text, `curl -i '${facts.gatewayUrl}?a='\\''$(id)'\\'''`)
  })

  it("stays below 8 KB and shows the endpoint's address where the whole one would be too long", () => {
    const long = paywallPage({ ...facts, title: '"'.repeat(1_000), url: `${facts.url}&${"y".repeat(8_000)}` })
    assert.isBelow(Buffer.byteLength(long), 8_192)
    assert.include(textOf(long), `curl -i '${facts.gatewayUrl}'`)
    const widest = paywallPage({ ...facts, title: "👩‍🚀".repeat(300), url: `${facts.url}&${"'".repeat(60)}` })
    assert.isBelow(Buffer.byteLength(widest), 8_192)
  })

  it("loads nothing and runs nothing: its one style is the only thing its policy lets in", async () => {
    const page = paywallPage(facts)
    assert.notMatch(page, /<script|<link|<img|<iframe|\bon\w+=|@import|url\(/i)
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? ""
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style))
    const policy = headerValue(paywallHeaders, "content-security-policy") ?? ""
    assert.include(policy, `style-src 'sha256-${Buffer.from(digest).toString("base64")}'`)
    assert.include(policy, "default-src 'none'")
    assert.notInclude(policy, "unsafe")
  })

  it("shows the icon of its host, for which Firefox asks the policy, and letters of its reader's size", () => {
    assert.include(headerValue(paywallHeaders, "content-security-policy"), "; img-src 'self';")
    assert.include(paywallPage(facts), "body{font:1rem/")
  })

  it("can be read by a screen reader: a language, one heading, a landmark, and blocks that the keyboard reaches", () => {
    const page = paywallPage(facts)
    assert.match(page, /<html lang="en">/)
    assert.strictEqual(page.match(/<h1>/g)?.length, 1)
    assert.match(page, /<main>/)
    for (const block of page.match(/<pre[^>]*>/g) ?? []) assert.match(block, /tabindex="0" aria-label="[^"]+"/)
  })
})

describe("who gets the page", () => {
  const pages = [
    "text/html",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "TEXT/HTML, application/json;q=0.9",
    "application/json;q=0.2, text/*;q=0.3"
  ]
  const json = [
    undefined,
    "",
    "*/*",
    "application/json",
    "application/json, text/html",
    "application/json, text/plain, */*",
    "text/html;q=0, */*",
    "text/html;q=0.5, application/*",
    "text/html;q=nonsense=, */*;q=1",
    `text/html, ${"x".repeat(2_000)}`
  ]
  for (const accept of pages) it(`${accept}: the page`, () => assert.isTrue(wantsHtml(accept)))
  for (const accept of json) it(`${String(accept).slice(0, 60)}: JSON`, () => assert.isFalse(wantsHtml(accept)))
})
