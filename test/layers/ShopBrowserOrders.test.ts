import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { browserOf, missing, open } from "./ShopBrowserHarness.ts"

/** A page that tries to order by itself, by every detour. */
const scheming = `<!doctype html><title>Scheming</title><script>
const post = (address, body, type) => fetch(address, { method: "POST", body, headers: type ? { "content-type": type } : {} }).catch(() => {})
const form = (fields) => Object.entries(fields).reduce((data, [name, value]) => (data.append(name, value), data), new FormData())
const all = [
  post("/wp-admin/admin-ajax.php", form({ email: "a@b.example", action: "place_order" })),
  post("/index.php", form({ file: new Blob([new Uint8Array([255, 0])]), "wc-ajax": "checkout" })),
  post("/cart/add?then=307", "id=1", "application/x-www-form-urlencoded"),
  post("/graphql", JSON.stringify({ query: "mutation { placeOrder(input: {}) { order { id } } }" }), "application/json"),
  post("/graphql", JSON.stringify({ operationName: "CompleteCheckout", extensions: {} }), "application/json"),
  post("/checkout", "step=3&action=place_order", "application/x-www-form-urlencoded"),
  post("/api/%6Frders", "{}", "application/json"),
  post("/rest/default/V1/guest-carts/Xy1/payment-information", "{}", "application/json"),
  post("/graphql?packed", new Uint8Array([31, 139, 8, 0]), "application/json"),
  new Promise((done) => {
    const worker = "onmessage = ({ data }) => fetch(data, { method: 'POST', body: new Uint8Array([31, 139, 8, 0]) }).then(() => postMessage(1), () => postMessage(1))"
    const one = new Worker(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })))
    one.onmessage = done
    one.onerror = done
    one.postMessage(new URL("/graphql?packed-by-worker", location.href).href)
  }),
  post("/checkout", new Blob(["_action=placeOrder"], { type: "application/x-www-form-urlencoded" })),
  fetch("/index.php?route=extension/payment/cod/confirm").catch(() => {}),
  post("/cdn-cgi/rum?", "{}", "application/json"),
  post("/metrics/g/collect?v=2", "en=begin_checkout"),
  post("/cart/add?then=fine", "id=1", "application/x-www-form-urlencoded"),
  post("/cart/add?then=in-parts", form({ id: "1" }))
]
Promise.all(all).then(() => { document.body.append("tried") })
</script>`

if (missing !== undefined) {
  it("orders of the browser were not tried: this machine has no browser", () =>
    assert.match(missing ?? "", /no browser/))
} else {
  describe("a page that orders by itself in our browser", () => {
    it.effect("does not, whatever it calls it and wherever it is redirected", () =>
      Effect.gen(function* () {
        const came: Array<string> = []
        const fixture = yield* Fixture.open((request, response) => {
          const { pathname, search } = new URL(request.url ?? "/", "http://shop")
          if (request.method === "POST" || pathname === "/order/confirm" || pathname === "/index.php")
            came.push(`${request.method} ${pathname}${search}`)
          if (search === "?then=307") return void response.writeHead(307, { location: "/api/orders" }).end()
          if (pathname === "/go") return void response.writeHead(302, { location: "/order/confirm" }).end()
          response.setHeader("content-type", "text/html").end(pathname === "/" ? scheming : "fine")
        })
        const browser = yield* browserOf({ allowHosts: [fixture.domain] })
        const { show } = yield* open(browser, fixture.url)
        const shown = yield* show(new URL(fixture.url))
        assert.isTrue("html" in shown && shown.html.includes("tried"), JSON.stringify(shown))
        assert.deepStrictEqual(came.toSorted(), [
          "POST /cart/add?then=307",
          "POST /cart/add?then=fine",
          "POST /cart/add?then=in-parts"
        ])
        const led = yield* show(new URL("/go", fixture.url))
        assert.isTrue("failure" in led, JSON.stringify(led))
        assert.notInclude(came, "GET /order/confirm")
      })
    )
  })
}
