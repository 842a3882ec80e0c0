import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { aboutCookies } from "#layers/ShopBrowser/Names.ts"
import { mayPress } from "#layers/ShopBrowser/Press.ts"
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

/** A shop with something of its page's own over it, or beside its button, that tells what of it was pressed. */
const besideOf = Effect.fnUntraced(function* (box: string, lang = "en") {
  let items = 0
  const pressed: Array<string> = []
  const browser = yield* ShopBrowser
  const fixture = yield* Fixture.open((request, response) => {
    const path = request.url ?? "/"
    const html = (text: string) =>
      void response
        .writeHead(200, { "content-type": "text/html; charset=utf-8" })
        .end(`<!doctype html><html lang="${lang}"><body>${text}</body></html>`)
    if (path === "/api/cart") items++
    if (path.startsWith("/pressed")) pressed.push(path)
    if (path !== "/p/mug" && path !== "/cart") return html("")
    if (path === "/cart") return html(items > 0 ? "<ul><li>Blue mug $12.00</li></ul>" : "<p>Your cart is empty</p>")
    return html(
      `<main><h1>Blue mug</h1><button onclick="fetch('/api/cart', { method: 'POST' })">Add to cart</button></main>${box}`
    )
  })
  listed.push(fixture.domain)
  const { rail } = yield* Harness.open(browser, fixture.url)
  return { cart: yield* rail.cart(Harness.mugOf(fixture.url, null)), pressed }
})

/** What lies over a page until one of its buttons is pressed. */
const wall = (question: string, ...names: ReadonlyArray<string>) =>
  `<div style="position:fixed;inset:0;background:white"><p>${question}</p>${names
    .map((name) => `<button onclick="this.parentElement.remove()">${name}</button>`)
    .join("")}</div>`

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

    const asked: ReadonlyArray<readonly [lang: string, question: string, ...names: ReadonlyArray<string>]> = [
      ["sv", "Vi använder kakor.", "Inställningar", "Godkänn alla"],
      ["da", "Vi bruger cookies.", "Kun nødvendige", "Tillad alle"],
      ["no", "Vi bruker informasjonskapsler.", "Godta alle"],
      ["fi", "Käytämme evästeitä.", "Hyväksy kaikki"],
      ["pl", "Używamy plików cookie.", "Ustawienia", "Akceptuję wszystkie"],
      ["cs", "Používáme cookies.", "Nastavení", "Přijmout vše"],
      ["tr", "Çerezler kullanıyoruz (çerez politikası).", "Tümünü kabul et"],
      ["ru", "Мы используем куки.", "Принять все"],
      ["ja", "クッキーを使用しています。", "設定", "すべて許可する"],
      ["zh", "我们使用 cookie。", "全部接受"],
      ["ko", "쿠키를 사용합니다.", "모두 동의"],
      ["en", "We and our partners use cookies.", "Learn more", "Agree and close"],
      ["de", "Diese Webseite verwendet Cookies.", "Auswahl erlauben", "Alle zulassen"],
      ["de", "Wir verwenden Cookies.", "Akzeptieren und weiter"],
      ["fr", "Nous utilisons des cookies.", "Paramétrer", "Accepter &amp; Fermer"],
      ["es", "Utilizamos cookies.", "Permitir todas las cookies"],
      ["it", "Utilizziamo i cookie (cookie policy).", "Accetta e continua"],
      ["nl", "Wij gebruiken cookies.", "Alles toestaan"]
    ]
    it("is put away by what its button says in the languages of most shops", () => {
      const unknown = asked.filter(([, question, ...names]) => {
        const last = (names.at(-1) ?? "").replace("&amp;", "&")
        return !aboutCookies.test(question) || !mayPress([last], "acceptCookies")
      })
      assert.deepStrictEqual(unknown, [])
      const others = [
        "Godkänn köpet",
        "Zaakceptuj i zamów",
        "Kabul et ve öde",
        "すべて購入する",
        "同意并付款",
        "Souhlasím a objednat",
        "Accept and pay",
        "Zustimmen und bestellen",
        "Accepter et commander",
        "Agree and continue to payment"
      ]
      assert.deepStrictEqual(
        others.filter((name) => mayPress([name], "acceptCookies")),
        []
      )
    })

    for (const [lang, question, ...names] of asked.filter(([lang]) => ["sv", "ja", "fr"].includes(lang))) {
      it.effect(`is put away by "${names.at(-1)}"`, () =>
        Effect.gen(function* () {
          const { cart } = yield* besideOf(wall(question, ...names), lang)
          assert.strictEqual(cart.status, "passed", cart.detail)
        })
      )
    }

    it.effect(
      "is pressed away only where it asks about cookies: a form of letters is left alone, and a question of age",
      () =>
        Effect.gen(function* () {
          const letters = `<footer><p>See our privacy policy</p><form action="/pressed/letters"><input type="email" name="email"><button>OK</button></form></footer>`
          const notice = `<div><p>Was this helpful?</p><button onclick="location = '/pressed/answer'">I agree</button></div><footer><a href="/cookies">Cookies</a></footer>`
          const age = `<div><p>We use cookies. Are you over 18?</p><button onclick="location = '/pressed/age'">Accept</button></div>`
          for (const box of [letters, notice, age]) {
            const { cart, pressed } = yield* Effect.scoped(besideOf(box))
            assert.deepStrictEqual(pressed, [], box)
            assert.strictEqual(cart.status, "passed", cart.detail)
          }
        })
    )

    /** A box over a page that closes by the key for that. */
    const dialog = (words: string) =>
      `<dialog><h2>${words}</h2><form action="/pressed/dialog"><input type="email"><button>OK</button></form></dialog>`
    const inShadow = (mode: string, html: string, then: string) =>
      `<div id="host"></div><script>const root = host.attachShadow({ mode: "${mode}" }); root.innerHTML = ${JSON.stringify(html)}; ${then}</script>`
    const consent = `<div style="position:fixed;inset:0;background:white"><p>We use cookies</p><button onclick="this.parentElement.remove()">Reject all</button></div>`
    const show = 'root.querySelector("dialog").showModal()'

    it.effect(
      "is put away where it stands in a closed shadow, or closes by the key for that, and is not answered",
      () =>
        Effect.gen(function* () {
          const boxes = [inShadow("closed", consent, ""), inShadow("open", dialog("Get 10% off"), show)]
          for (const box of boxes) {
            const { cart, pressed } = yield* Effect.scoped(besideOf(box))
            assert.deepStrictEqual([cart.status, pressed], ["passed", []], cart.detail)
          }
        })
    )

    it.effect("is closed by its own button for that where it offers letters, and nothing is signed up for", () =>
      Effect.gen(function* () {
        const form = `<form action="/pressed/letters"><input type="email" name="email" required><button>Sign me up</button></form>`
        const close = `<button aria-label="Close" onclick="this.closest('div').remove()">×</button>`
        const { cart, pressed } = yield* besideOf(
          `<div style="position:fixed;inset:0;background:white">${close}<h2>Get 10% off</h2>${form}</div>`
        )
        assert.deepStrictEqual([cart.status, pressed], ["passed", []], cart.detail)
      })
    )

    it.effect(
      "takes nothing out of a cart that is drawn over the page, and sends no form of what is offered there",
      () =>
        Effect.gen(function* () {
          const item = `<p>Red mug <button onclick="fetch('/pressed/out')">×</button></p>`
          const offer = `<form action="/pressed/offer"><button>No thanks</button></form>`
          const { cart, pressed } = yield* besideOf(wall(`Your bag ${item}${offer}`, "Close"))
          assert.deepStrictEqual([cart.status, pressed], ["passed", []], cart.detail)
        })
    )

    it.effect("is left where it asks how old somebody is", () =>
      Effect.gen(function* () {
        const closing = `<div style="position:fixed;inset:0;background:white"><h2>Are you over 18?</h2><button onclick="this.parentElement.remove()">Close</button></div>`
        for (const box of [inShadow("open", dialog("Are you over 18?"), show), inShadow("open", closing, "")]) {
          const { cart, pressed } = yield* Effect.scoped(besideOf(box))
          assert.deepStrictEqual([cart.status, pressed], ["unknown", []], cart.detail)
        }
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
