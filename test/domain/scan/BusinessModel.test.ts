import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { businessModelOf } from "#domain/scan/ShopSigns.ts"
import type { Sight } from "#domain/scan/Sight.ts"

const url = "https://site.example/"
const answer: Sight = {
  asked: url,
  url,
  status: 200,
  failure: null,
  ms: 1,
  contentType: "text/html",
  headers: new Map(),
  redirects: 0,
  challenge: null,
  isTruncated: false,
  page: undefined,
  opening: ""
}
const sight = (html: string): Sight => ({ ...answer, page: readPage(html, new URL(url)) })
const modelOf = (home: Sight) => businessModelOf({ home, shop: { answer: "no", because: "" } }, null)

describe("the business of a site that is no shop", () => {
  it("is to be read where it has a feed, or says that it is written", () => {
    assert.strictEqual(modelOf(sight('<link rel="alternate" type="application/rss+xml" href="/feed">')), "content")
    const article = '<script type="application/ld+json">{"@type":"NewsArticle","headline":"x"}</script>'
    assert.strictEqual(modelOf(sight(article)), "content")
    assert.isNull(modelOf(sight("<p>Hello.</p>")))
  })

  it("is to be subscribed to where it has prices and a login, and to be called where it has only a reference", () => {
    const pricing = '<a href="/pricing">Pricing</a>'
    const reference = '<a href="/docs/api">API docs</a>'
    assert.strictEqual(modelOf(sight(`${pricing}<a href="/x">Sign up</a>${reference}`)), "saas")
    assert.strictEqual(modelOf(sight(`${pricing}${reference}`)), "api_provider")
    assert.isNull(modelOf(sight(pricing)))
    assert.strictEqual(modelOf({ ...answer, contentType: "application/json" }), "api_provider")
    assert.isNull(modelOf({ ...answer, status: 404, contentType: "application/json" }))
  })
})
