import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"

const url = new URL("https://shop.example/products/mug")
const page = (html: string) => readPage(html, url)

describe("what a person sees without scripts", () => {
  it("is text, without scripts, styles, templates and what is hidden", () => {
    const facts = page(`<html lang="en"><head><title>Mug &amp; more</title><style>.a{}</style></head><body>
      <script>var a = "<p>no</p>"</script><template><p>later</p></template>
      <p hidden>hidden</p><div style="color:red; display : none"><p>gone</p></div>
      <h1>Blue<br>mug</h1><p>Caf&eacute; <b>size</b>d</p><select><option>Germany</option></select></body></html>`)
    assert.strictEqual(facts.visibleText, "Blue mug Café sized")
    assert.strictEqual(facts.title, "Mug & more")
    assert.strictEqual(facts.lang, "en")
  })

  it("has what a noscript shows, but not its apology", () => {
    assert.strictEqual(page("<noscript><p>All sizes: S, M</p></noscript>").visibleText, "All sizes: S, M")
    assert.strictEqual(page("<noscript>Please enable JavaScript.</noscript><p>Mug</p>").visibleText, "Mug")
  })

  it("does not lose the body where the head has no end", () => {
    assert.strictEqual(page("<head><meta charset=utf-8><div>Mug</div>").visibleText, "Mug")
  })

  it("stays when only the body is hidden until a script shows it", () => {
    assert.strictEqual(page(`<body style="visibility:hidden"><p>Mug</p></body>`).visibleText, "Mug")
  })
})

describe("what a page links and names", () => {
  it("resolves links against the base, and leaves out what is no address of the web", () => {
    const { links } =
      page(`<base href="/en/"><a href="cart">Cart</a><a href="javascript:x()">x</a><a href="mailto:a@b.example">m</a>
      <a href="/search" aria-label="Search"><svg></svg></a>`)
    assert.deepStrictEqual(
      links.map(({ href, text }) => [href, text]),
      [
        ["https://shop.example/en/cart", "Cart"],
        ["https://shop.example/search", "Search"]
      ]
    )
  })

  it("is about what its title begins with, where a name of the shop, a menu and a small cart are headings as well", () => {
    const others = '<h1 class="visually-hidden" aria-hidden="true">Fashion Store</h1><h1>Menu</h1><h1>Cart</h1>'
    const shown = "<p>$0.00</p><h1>Coral Reef</h1><p>$97.23</p>"
    const at = (title: string, html: string) => page(`<title>${title}</title>${html}`)
    const facts = at("Coral Reef | Fashion Store", others + shown)
    assert.strictEqual(facts.heading, "Coral Reef")
    assert.strictEqual(facts.visibleText.slice(facts.headingAt ?? 0), "Coral Reef $97.23")
    assert.deepStrictEqual(
      facts.headings.map(({ text }) => text),
      ["Menu", "Cart", "Coral Reef"]
    )
    assert.strictEqual(at("Fashion Store: coral reef", others + shown).heading, "Coral Reef")
    assert.strictEqual(at("Cartridge 12", "<h1>Cart</h1><h1>Cartridge 12</h1>").heading, "Cartridge 12")
    assert.strictEqual(at("Shop", "<h1></h1><h1>Mug</h1><h1>More mugs</h1>").heading, "Mug")
    assert.isNull(at("Shop", '<h1 aria-hidden="true">Shop</h1>').heading)
  })

  it("tells headings, landmarks, metas and links of the head", () => {
    const facts = page(`<head><meta property="og:type" content="product"><meta name="Description" content="A mug">
      <link rel="alternate" type="text/markdown" href="/products/mug.md"></head>
      <header></header><main><h1>Mug</h1><h2></h2></main><div role="search"></div>`)
    assert.deepStrictEqual(facts.headings, [
      { level: 1, text: "Mug" },
      { level: 2, text: "" }
    ])
    assert.deepStrictEqual(facts.landmarks, ["banner", "main", "search"])
    assert.strictEqual(facts.metas.get("description"), "A mug")
    assert.deepStrictEqual(facts.headLinks, [
      { rel: "alternate", href: "https://shop.example/products/mug.md", type: "text/markdown" }
    ])
  })
})

describe("controls", () => {
  const labels = (html: string) => page(html).controls.map((control) => control.label)

  it("are named by label, aria, text, title and last the placeholder", () => {
    assert.deepStrictEqual(
      labels(`<label for="a">Email *</label><input id="a" placeholder="you@example.com"><label>City <input></label>
        <input aria-label="Zip"><span id="t">Street</span><input aria-labelledby="t none"><input title="Phone"><input placeholder="Name">
        <button><img alt="Search"></button><input type="submit" value="Go"><input>`),
      ["Email *", "City", "Zip", "Street", "Phone", "Name", "Search", "Go", null]
    )
  })

  it("are named by the first element of an id, as in browsers", () => {
    assert.deepStrictEqual(labels('<i id="t">Street</i><input aria-labelledby="t"><i id="t">City</i>'), ["Street"])
  })

  it("belong to the form around them, or to the one they name", () => {
    const facts = page(`<form id="f" action="/cart/add" method="post"><input type="hidden" name="id" value="7"></form>
      <button form="f" name="add">Add to cart</button><input name="q">`)
    assert.deepStrictEqual(
      facts.forms[0]?.controls.map((control) => control.name),
      ["id", "add"]
    )
    assert.strictEqual(facts.forms[0]?.action, "https://shop.example/cart/add")
    assert.strictEqual(facts.forms[0]?.method, "POST")
    assert.deepStrictEqual(
      facts.controls.map((control) => control.name),
      ["q"]
    )
  })

  it("belong to their form also where tables break its nesting, as in browsers", () => {
    const facts = page(
      "<table><tr><form action=/a><td><input name=x></td></tr><tr><td><input name=y></td></tr></form></table>"
    )
    assert.deepStrictEqual(
      facts.forms[0]?.controls.map((control) => control.name),
      ["x", "y"]
    )
  })

  it("of a list hold the chosen option, or the first that can be chosen", () => {
    const [one, other] =
      page(`<select name=a><option value="">Choose<option value=1>S<option value=2 selected>M</select>
      <select name=b><option disabled>Choose</option><option>S</option></select>`).controls
    assert.strictEqual(one?.value, "2")
    assert.strictEqual(other?.value, "S")
    assert.deepStrictEqual(
      one?.options.map((option) => option.text),
      ["Choose", "S", "M"]
    )
  })
})

describe("a page that is empty before its scripts", () => {
  const shell = (body: string) =>
    page(`<html><head><script src="/app.js"></script></head><body>${body}</body></html>`).clientOnly

  it("is one with nothing but an empty root, or an apology", () => {
    assert.strictEqual(shell(`<div id="root"></div>`)?.marker, `empty <div id="root">`)
    assert.strictEqual(
      shell(`<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>`)?.marker,
      `empty <div id="root">`
    )
    assert.strictEqual(shell("<app-root></app-root>")?.marker, "empty <app-root>")
    assert.include(shell("<noscript>Please enable JavaScript</noscript><div></div>")?.marker, "noscript")
    assert.strictEqual(shell('<div id="SITE_CONTAINER"></div>')?.marker, "a page without a word")
  })

  it("is not one that was rendered on the server, whatever it is made with", () => {
    assert.isNull(shell(`<div id="__next"><h1>Mug</h1><p>$19.99</p></div>`))
    assert.isNull(shell(`<div id="root"></div><p>${"A long text about a mug. ".repeat(20)}</p>`))
    assert.isNull(shell(`<div id="app"><form action="/cart/add"><input name="q"></form></div>`))
  })

  it("is not a short page without scripts", () => {
    assert.isNull(page("<p>Gone</p>").clientOnly)
  })
})

describe("captchas", () => {
  const captchas = (html: string) => page(html).captchas.map(({ vendor, visible }) => [vendor, visible])

  it("are visible where a widget has to be solved", () => {
    assert.deepStrictEqual(
      captchas(
        `<script src="https://www.google.com/recaptcha/api.js"></script><div class="g-recaptcha" data-sitekey="k"></div>`
      ),
      [["recaptcha", true]]
    )
    assert.deepStrictEqual(captchas(`<form action="/checkout"><div class="cf-turnstile"></div></form>`), [
      ["turnstile", true]
    ])
    assert.deepStrictEqual(captchas(`<img src="/captcha.php?r=1">`), [["image", true]])
  })

  it("only watch where they are invisible, or a script alone", () => {
    assert.deepStrictEqual(captchas(`<script src="https://www.google.com/recaptcha/api.js?render=k"></script>`), [
      ["recaptcha", false]
    ])
    assert.deepStrictEqual(captchas(`<div class="h-captcha" data-size="invisible"></div>`), [["hcaptcha", false]])
    assert.deepStrictEqual(captchas(`<button class="g-recaptcha" data-callback="go">Pay</button>`), [
      ["recaptcha", false]
    ])
  })

  it("of a newsletter or a review stand in nobody's way", () => {
    assert.deepStrictEqual(captchas(`<form action="/newsletter"><div class="g-recaptcha"></div></form>`), [
      ["recaptcha", false]
    ])
    assert.deepStrictEqual(captchas(`<form action="/newsletter"><img src="/captcha.php"></form>`), [["image", false]])
    assert.deepStrictEqual(captchas(`<img src="/captcha.php" style="display:none">`), [["image", false]])
  })

  const widget = `<div class="g-recaptcha"></div>`
  const adds = `<form action="/cart/add" method="post"><button>Add to cart</button></form>`
  const asks = `<label>Name<input name="name"></label><label>Message<textarea name="m"></textarea></label>`

  it("beside what adds to the cart stand in nobody's way, whatever their form is called", () => {
    for (const form of [
      `<form action="/product-enquiry" method="post">${asks}${widget}<button>Send</button></form>`,
      `<form action="/say" method="post">${asks}${widget}<button>Send</button></form>`,
      `<div class="modal"><form action="/say" method="post">${asks}${widget}</form></div>`
    ]) {
      assert.deepStrictEqual(captchas(`${adds}${form}`), [["recaptcha", false]], form)
    }
    assert.deepStrictEqual(
      captchas(`${adds.replace("<button>", `${widget}<button>`)}<form action="/say">${asks}</form>`),
      [["recaptcha", true]]
    )
  })

  it("of a cart or a checkout are in the way in the form that leads on, and in one that asks for nothing else", () => {
    const at = (path: string, html: string) => readPage(html, new URL(path, url)).captchas.map(({ visible }) => visible)
    const form = (action: string, fields: string) =>
      `<form action="${action}">${fields}${widget}<button>Go</button></form>`
    assert.deepStrictEqual(at("/cart", form("/say", asks)), [false])
    assert.deepStrictEqual(at("/cart", form("/checkout/start", asks)), [true])
    assert.deepStrictEqual(at("/cart", form("/verify", "")), [true])
    assert.deepStrictEqual(at("/checkout", form("/say", asks)), [true])
    assert.deepStrictEqual(
      at("/step", `${adds}${form("/step", `${asks}<input name="street" autocomplete="street-address">`)}`),
      [true]
    )
  })
})

describe("walls", () => {
  const walls = (html: string) => page(html).walls.map((wall) => wall.kind)
  const goods = `<h1>Mug</h1><p>$19.99</p><p>${"A good mug for tea. ".repeat(80)}</p>`

  it("are pages that ask for age, cookies, country or an account and show nothing else", () => {
    assert.deepStrictEqual(walls("<p>You must be 21 or over to enter. Are you over 21?</p>"), ["age"])
    assert.deepStrictEqual(walls("<p>Please enable cookies to continue.</p>"), ["cookie"])
    assert.deepStrictEqual(walls("<p>Sorry, this shop is not available in your country.</p>"), ["geo"])
    assert.deepStrictEqual(walls("<h1>Opening soon</h1><p>Enter store using password</p>"), ["account"])
  })

  it("are not banners over a page that is all there", () => {
    assert.deepStrictEqual(
      walls(`${goods}<div class="cookie-banner">We use cookies. Accept cookies to continue.</div>`),
      []
    )
    assert.deepStrictEqual(walls("<p>The store will not work correctly when cookies are disabled.</p>"), [], "Magento")
    assert.deepStrictEqual(walls("<p>Cookies are disabled. You cannot go on.</p>"), ["cookie"])
    assert.deepStrictEqual(walls(`${goods}<footer>Log in to view prices for trade</footer>`), [])
    assert.deepStrictEqual(walls(`${goods}<div id="age-gate" style="display:none">Are you over 18?</div>`), [])
  })

  it("are overlays that ask for the age from the start", () => {
    assert.deepStrictEqual(walls(`${goods}<div class="age-gate"><p>Are you over 18?</p><button>Yes</button></div>`), [
      "age"
    ])
  })
})

describe("payments", () => {
  const payments = (html: string) => page(html).payments.map((payment) => `${payment.method}:${payment.class}`)

  it("are known by scripts and by the choices of a form", () => {
    assert.deepStrictEqual(
      payments(
        `<script src="https://js.stripe.com/v3/"></script><script src="https://www.paypal.com/sdk/js?client-id=x"></script>`
      ),
      ["stripe:agent", "paypal:human"]
    )
    assert.deepStrictEqual(
      payments(`<form><label><input type=radio name=payment_method value=cod> Cash on delivery</label>
        <label><input type=radio name=payment_method value=bacs> Direct bank transfer</label></form>`),
      ["cash_on_delivery:deferred", "bank_transfer:deferred"]
    )
  })

  it("are not words of the text", () => {
    assert.deepStrictEqual(
      payments('<form><label><input type="radio" name="payment[method]" value="x1"> iDEAL</label></form>'),
      ["ideal:human"]
    )
    assert.deepStrictEqual(payments("<p>We take Visa, PayPal and cash on delivery.</p>"), [])
  })
})

describe("WebMCP", () => {
  it("is attributes of forms and calls in scripts", () => {
    assert.deepStrictEqual(
      page(`<form toolname="search_products"></form><script>navigator.modelContext.registerTool({})</script>`).webMcp,
      ["toolname=search_products", "navigator.modelContext.registerTool"]
    )
  })
})
