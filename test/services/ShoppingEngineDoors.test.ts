import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { jsonLd, page, send } from "../shops/Storefront.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

/** A site of these pages. Everything else leads to `other`. */
const site = (pages: Readonly<Record<string, string>>, other?: string) =>
  Fixture.open((request, response, base) => {
    const path = new URL(request.url ?? "/", base).pathname
    const body = pages[path]
    if (body === undefined && other !== undefined) return send(response, 303, "", { location: other })
    const isWhole = body?.startsWith("<!") === true
    send(response, body === undefined ? 404 : 200, isWhole ? body : page(base, "Shop", body ?? ""))
  })

/** A page of a careful shop links too much to be a mere door. */
const bare = (body: string) => `<!doctype html><html lang="en"><title>Door</title><body>${body}</body></html>`
const login =
  '<form method="post"><label>Email <input type="email" name="e"></label><label>Password <input type="password" name="p"></label><button>Sign in</button></form>'
const offer = { price: "9.00", priceCurrency: "EUR", availability: "https://schema.org/InStock" }
const thing = (body: string, offers: unknown) =>
  `<p>9,00 €</p>${body}${jsonLd({ "@type": "Product", name: "Stylo plume", sku: "P-1", ...(offers === undefined ? {} : { offers }) })}`
const home = '<a href="/products/pen">Stylo plume</a>'

describe("a shop behind a door", () => {
  it.live("that lets its visitors wait in a line is not said to have no products", () =>
    Effect.gen(function* () {
      const waiting = bare("<h1>You are now in line</h1><p>Your estimated wait time is more than an hour.</p>")
      const { domain } = yield* site({ "/": waiting }, "/")
      const outcome = yield* testOf(domain, "browse")
      assert.deepStrictEqual([line(outcome), outcome.blockers], ["discovery?", []])
      assert.include(outcome.steps[0]?.detail, "You are now in line")
    }).pipe(Effect.scoped)
  )

  it.live("that lets nobody in without a password, in whatever language, is no shop without products", () =>
    Effect.gen(function* () {
      const closed = bare(
        '<h1>Bientôt disponible</h1><form action="/password" method="post"><label for="p">Mot de passe</label><input id="p" type="password" name="password"><button>Entrer</button></form><a href="/admin">Connexion</a>'
      )
      const { domain } = yield* site({ "/password": closed }, "/password")
      const outcome = yield* testOf(domain, "browse")
      assert.strictEqual(line(outcome), "discoveryx")
      assert.deepInclude(outcome.failure_point ?? {}, { step: "discovery", blocker: "account_required" })
    }).pipe(Effect.scoped)
  )

  it.live("that asks something before every page, in whatever language, is not blamed for what it shows behind", () =>
    Effect.gen(function* () {
      const asks = bare("<h1>プライバシーに関するお知らせ</h1><form method=post><button>すべて同意する</button></form>")
      const { domain } = yield* Fixture.open((request, response, base) => {
        const { pathname } = new URL(request.url ?? "/", base)
        const at = ["tea-bowl", "kettle"].map((name) => `<url><loc>${base}/products/${name}</loc></url>`)
        return pathname === "/sitemap.xml"
          ? send(response, 200, `<urlset>${at.join("")}</urlset>`, { "content-type": "application/xml" })
          : send(response, pathname === "/robots.txt" ? 404 : 200, asks)
      })
      const outcome = yield* testOf(domain, "search")
      assert.deepStrictEqual([line(outcome), outcome.failure_point], ["discovery selection?", null])
      assert.include(outcome.steps[1]?.detail, "something stands before the shop")
    }).pipe(Effect.scoped)
  )

  it.live("is none whose pages of products are alike for what they lack, and lead about in it", () =>
    Effect.gen(function* () {
      const places = ["About", "Blog", "Teas", "Bowls", "Gifts", "Contact"].map(
        (name) => `<a href="/${name}">${name}</a>`
      )
      const to = (path: string) => `<a href="/products/${path}">${path}</a>`
      const alike = [places.join(""), to("tea-bowl") + to("kettle")]
      for (const links of alike) {
        const { domain } = yield* Fixture.open((request, response, base) => {
          const { pathname } = new URL(request.url ?? "/", base)
          if (pathname === "/robots.txt") return send(response, 404, "")
          const body = `${links}<product-view></product-view>`
          send(response, 200, bare(pathname === "/" ? `<h1>Teas</h1>${body}${to("tea-bowl")}${to("kettle")}` : body))
        })
        const outcome = yield* testOf(domain, "search")
        assert.include(line(outcome), "selectionx", links)
        assert.strictEqual(outcome.failure_point?.blocker, "no_structured_data", links)
      }
    }).pipe(Effect.scoped)
  )

  it.live("that leads to a login from wherever it sells asks for an account", () =>
    Effect.gen(function* () {
      const club = bare('<h1>Private sale club</h1><a href="/shop">Shop now</a> <a href="/login">Sign in</a>')
      const { domain } = yield* site({ "/": club, "/login": bare(login) }, "/login")
      assert.include(told(yield* testOf(domain, "browse")).blockers, "discovery blocking account_required")
    }).pipe(Effect.scoped)
  )

  it.live("that tells its prices only to customers asks for an account", () =>
    Effect.gen(function* () {
      const hidden = thing("<p>Anmelden, um Preise zu sehen</p>", undefined).replace("9,00 €", "Preis auf Anfrage")
      const { domain } = yield* site({ "/": home, "/products/pen": hidden })
      assert.deepStrictEqual(
        told(yield* testOf(domain, "search")).blockers.filter((one) => one.startsWith("selection")),
        ["selection blocking account_required"]
      )
    }).pipe(Effect.scoped)
  )
})

describe("a shop that sells otherwise", () => {
  it.live("only by subscription is not blamed for it", () =>
    Effect.gen(function* () {
      const only = thing(
        '<form method="post" action="/begin"><input type="hidden" name="id" value="9"><button>Subscribe now</button></form>',
        offer
      )
      const { domain } = yield* site({ "/": home, "/products/pen": only })
      const outcome = yield* testOf(domain)
      assert.deepStrictEqual(outcome.steps[2]?.status, "unknown")
      assert.include(outcome.steps[2]?.detail, "subscribes to nothing")
    }).pipe(Effect.scoped)
  )
})

describe("a shop whose addresses do not say what they are", () => {
  const ware = (name: string) => `<p>9,00 €</p>${jsonLd({ "@type": "Product", name, offers: offer })}`
  const services = ["catalogsearch/advanced/", "customer/account/login/", "sales/guest/form/", "search/term/popular/"]
  const links = (paths: ReadonlyArray<string>) => paths.map((path) => `<a href="/${path}">${path}</a>`).join("")

  it.live("is known by what its category lists, though nothing else leads there", () =>
    Effect.gen(function* () {
      const narrowed = ["mugs.html?color=1", ...["a", "b", "c"].map((name) => `${name}-sorted.html?by=price`)]
      const listed = [...narrowed, "white-mug.html", "teapot.html"]
      const { domain } = yield* site({
        "/": links([...services, "mugs.html"]),
        ...Object.fromEntries(services.map((path) => [`/${path}`, "<p>Nothing</p>"])),
        "/mugs.html": links([...services, "mugs.html", ...listed]),
        "/white-mug.html": ware("White mug"),
        "/teapot.html": ware("Teapot")
      })
      const outcome = yield* testOf(domain, "search")
      assert.deepStrictEqual(line(outcome), "discovery! selection!", JSON.stringify(told(outcome)))
      assert.match(outcome.steps[0]?.detail ?? "", /2 product addresses by looking at pages/)
    }).pipe(Effect.scoped)
  )
})

describe("a shop that takes whoever names JSON for one of its own scripts, as PrestaShop does", () => {
  it.live("answers our looks at its pages with pages", () =>
    Effect.gen(function* () {
      const pages = { "/": home, "/products/pen": thing("", offer) }
      const { domain } = yield* Fixture.open((request, response, base) => {
        const path = new URL(request.url ?? "/", base).pathname
        const body = Object.entries(pages).find(([at]) => at === path)?.[1]
        const isScript = /application\/json/.test(request.headers.accept ?? "")
        send(response, body === undefined ? 404 : 200, isScript ? "" : page(base, "Shop", body ?? ""))
      })
      const outcome = yield* testOf(domain, "search")
      assert.deepStrictEqual([line(outcome), outcome.product?.name], ["discovery! selection!", "Stylo plume"])
    }).pipe(Effect.scoped)
  )
})

describe("a cart whose page is not where carts usually are", () => {
  const recommended = "<h2>Popular products</h2><p>Stylo plume 9,00 €</p>"
  const emptying = '<form action="/carrito/clear" method="post"><button>Empty basket</button></form>'
  /** A shop whose cart says this after its form was sent. */
  const testWith = (cart: string) =>
    Effect.gen(function* () {
      const form = `<form action="/carrito" method="post"><input type="hidden" name="id_product" value="1"><button>Add to cart</button></form>`
      const { domain } = yield* Fixture.open((request, response, base) => {
        const path = new URL(request.url ?? "/", base).pathname
        const bodies: Readonly<Record<string, string>> = {
          "/": home,
          "/products/pen": thing(form, offer),
          "/carrito": cart
        }
        const body = bodies[path]
        const whole = page(base, "Shop", body ?? "").replace(/<a href="[^"]*\/cart">Cart<\/a>/, "")
        send(response, body === undefined ? 404 : 200, whole)
      })
      return yield* testOf(domain, "add_to_cart")
    }).pipe(Effect.scoped)

  it.live("is not taken to hold what it recommends, where only scripts fill it", () =>
    Effect.gen(function* () {
      const outcome = yield* testWith(`<p>No hay más artículos en su carrito</p>${recommended}`)
      assert.deepStrictEqual(
        [line(outcome), outcome.blockers.at(-1)?.id],
        ["discovery! selection! cart?", "add_to_cart_failed"],
        JSON.stringify(told(outcome))
      )
    })
  )

  it.live("is not taken to be empty for a button that would empty it", () =>
    Effect.gen(function* () {
      const outcome = yield* testWith(`<p>Stylo plume 9,00 €</p>${emptying}`)
      assert.strictEqual(line(outcome), "discovery! selection! cart", JSON.stringify(told(outcome)))
    })
  )
})
