import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const listed: Array<string> = []

/** A shop under a frame that covers its pages, and goes when it is told to. */
const shop = (question: string): Fixture.ShopPages => {
  let items = 0
  const covered = (body: string) => `<!doctype html><html lang="en"><body><a href="/cart">Cart</a><main>${body}</main>
    <div id="over" style="position:fixed;inset:0"><iframe title="Our message" src="/question" style="width:100%;height:100%"></iframe></div>
    <script>addEventListener("message", () => document.getElementById("over").remove())</script></body></html>`
  return (request, response) => {
    const html = (text: string) => void response.writeHead(200, { "content-type": "text/html" }).end(text)
    if (request.url === "/api/cart") items++
    if (request.url === "/question") return html(question)
    if (request.url === "/p/mug")
      return html(
        covered(`<h1>Blue mug</h1><button onclick="fetch('/api/cart', { method: 'POST' })">Add to cart</button>`)
      )
    return html(covered(items > 0 ? "<ul><li>Blue mug $12.00</li></ul>" : "<p>Your cart is empty</p>"))
  }
}

const cartUnder = Effect.fnUntraced(function* (question: string) {
  const browser = yield* ShopBrowser
  const fixture = yield* Fixture.open(shop(question))
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(browser, fixture.url)
  return yield* rail.cart(Harness.mugOf(fixture.url, null))
})

const button = (name: string) => `<button onclick="parent.postMessage('gone', '*')">${name}</button>`

if (Harness.missing !== undefined) {
  it("covers were not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("what lies over a page in a frame", (it) => {
    it.effect("is put away when it asks about cookies", () =>
      Effect.gen(function* () {
        const cart = yield* cartUnder(`<h2>We value your privacy</h2>${button("Accept all")}<button>Manage</button>`)
        assert.strictEqual(cart.status, "passed", cart.detail)
      })
    )

    it.effect("is named when it cannot be put away, and nothing in it is pressed", () =>
      Effect.gen(function* () {
        const cart = yield* cartUnder(`<h2>Join our club</h2>${button("OK")}`)
        assert.strictEqual(cart.status, "unknown")
        assert.match(cart.detail, /over it lies "iframe Our message"/)
      })
    )
  })
}
