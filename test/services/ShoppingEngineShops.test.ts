import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { page, send } from "../shops/Storefront.ts"
import * as StepShop from "../shops/StepShop.ts"
import * as Woo from "../shops/Woo.ts"
import { line, testOf, told } from "./ShoppingEngineHarness.ts"

const tested = (settings: StepShop.StepShopSettings) =>
  Effect.gen(function* () {
    const { domain, state } = yield* StepShop.open(settings)
    const outcome = yield* testOf(domain)
    assert.strictEqual(state.orders, 0)
    return { ...state, outcome, line: line(outcome), ...told(outcome) }
  }).pipe(Effect.scoped)

const add = (fields: string, button = "<button>Add to cart</button>") =>
  `<form action="/cart/add" method="post"><input type="hidden" name="id" value="1">${fields}${button}</form>`

describe("a product's form", () => {
  it.live("is sent with as many as its field asks for, which is no telephone number", () =>
    Effect.gen(function* () {
      const { added, blockers } = yield* tested({
        buying: add('<input id="qty[]" name="qty[]" type="tel" value="1" min="1">')
      })
      assert.deepStrictEqual(added, ["id=1&qty[]=1"])
      assert.notInclude(blockers.join(), "cart")
    })
  )

  it.live("whose button a script lets be pressed after a choice wants a script, and no choice", () =>
    Effect.gen(function* () {
      const choice = '<select name="size"><option value="">Choose</option><option value="1">28</option></select>'
      const { blockers } = yield* tested({ buying: add(choice, "<button disabled>Add to cart</button>") })
      assert.include(blockers, "cart warning javascript_wall")
      assert.notInclude(blockers.join(), "variant_required")
    })
  )

  it.live("that subscribes is said to be one, in place of its address", () =>
    Effect.gen(function* () {
      const { outcome } = yield* tested({ buying: add("", "<button>Subscribe now</button>") })
      assert.match(outcome.steps[2]?.detail ?? "", /only offers a subscription, by "Subscribe now"/)
    })
  )
})

describe("a cart whose table's head alone says what is money", () => {
  const inCart = (line: string) => tested({ name: "흰 머그컵", price: "11900", currency: "KRW", line })

  it.live("has the price in its line, and none of an option or of points beside it", () =>
    Effect.gen(function* () {
      const { blockers, outcome } = yield* inCart("흰 머그컵 1개 (+0원) 1 11,900 0 선불 11,900 배송비 4,000 원")
      assert.notInclude(blockers.join(), "price_changed_in_cart")
      assert.match(outcome.steps[2]?.detail ?? "", /once at 11900/)
    })
  )

  it.live("has another price where its line says one", () =>
    Effect.gen(function* () {
      const { blockers } = yield* inCart("흰 머그컵 1개 (+0원) 1 12,900원")
      assert.include(blockers, "cart warning price_changed_in_cart")
    })
  )
})

const fields =
  '<label>Email <input name="email" type="email"></label><label>Name <input name="name" autocomplete="name"></label><label>Street <input name="street" autocomplete="address-line1"></label><label>ZIP <input name="zip" autocomplete="postal-code"></label>'
const steps = (names: ReadonlyArray<string>, at: number) =>
  `<ol class="steps">${names.map((name, index) => (index === at ? `<li aria-current="step">${name}</li>` : `<li>${name}</li>`)).join("")}</ol>`

describe("a checkout that lists its steps", () => {
  for (const [language, go, ...names] of [
    ["Arabic", "متابعة", "العنوان", "الشحن", "الدفع"],
    ["Hebrew", "המשך", "פרטים", "משלוח", "תשלום"],
    ["Persian", "ادامه", "آدرس", "ارسال", "پرداخت"],
    ["Vietnamese", "Tiếp tục", "Địa chỉ", "Vận chuyển", "Thanh toán"],
    ["Thai", "ถัดไป", "ที่อยู่", "การจัดส่ง", "การชำระเงิน"],
    ["Hindi", "आगे बढ़ें", "पता", "शिपिंग", "भुगतान"]
  ] as const)
    it.live(`is gone through up to the payment: ${language}`, () =>
      Effect.gen(function* () {
        const form = (action: string, inside: string) =>
          `<form action="${action}" method="post">${inside}<button>${go}</button></form>`
        const ways = '<label><input type="radio" name="payment_method" value="card"> Visa</label>'
        const { line, outcome } = yield* tested({
          pages: {
            "/checkout": steps(names, 0) + form("/checkout/address", fields),
            "/checkout/ship":
              steps(names, 1) +
              form("/checkout/shipping", '<input type="radio" name="shipping_method" value="1" checked>'),
            "/checkout/ways": `${steps(names, 2)}<p>Total $25.00</p>${form("/checkout/last", ways)}`
          },
          steps: { "/checkout/address": "/checkout/ship", "/checkout/shipping": "/checkout/ways" }
        })
        assert.match(line, /checkout!? payment!?$/, outcome.steps[3]?.detail)
      })
    )
})

it.live("the way to the checkout is known by its words and by an address in its own letters", () =>
  Effect.gen(function* () {
    for (const path of ["/zam%C3%B3wienie", "/index/17"]) {
      const { outcome } = yield* tested({
        buying: add(""),
        checkoutPath: `${path}">Przejdź do realizacji zamówienia</a><a href="/other`,
        pages: { [path]: "<p>Zork</p>" }
      })
      assert.notMatch(outcome.steps[3]?.detail ?? "", /Nothing in the cart was recognized/, path)
    }
  })
)

it.live("a cart that says how much has to be ordered at least is no form that nobody understands", () =>
  Effect.gen(function* () {
    const { blockers, outcome } = yield* tested({
      name: "Kettle $20.00. Minimum order value is $50.00. Kettle",
      pages: { "/checkout": "<p>Back to the cart.</p>" }
    })
    assert.match(outcome.steps[3]?.detail ?? "", /The cart says: Minimum order value is \$50\.00\./)
    assert.notInclude(blockers.join(), "checkout_form_unrecognized")
  })
)

it.live("a checkout that only shows guests their orders needs an account", () =>
  Effect.gen(function* () {
    const login =
      '<form action="/login" method="post"><input type="email" name="mail"><input type="password" name="password" required><button>Log in</button></form>'
    const { outcome } = yield* tested({
      pages: {
        "/checkout": `<p>Please log in to check out.</p>${login}<a href="/orders/guest">Track order as guest</a>`,
        "/orders/guest": "<h1>Your order</h1>"
      }
    })
    assert.strictEqual(outcome.failure_point?.blocker, "account_required", outcome.steps[3]?.detail)
  })
)

describe("a home page that only asks something", () => {
  for (const [what, html] of [
    ["consent", "<h1>We use cookies</h1><p>Accept cookies to enter our shop.</p><button>Accept all</button>"],
    ["a country", '<h1>Select your country</h1><a href="/us">United States</a><a href="/de">Deutschland</a>'],
    ["a country to go on", '<h1>Choose your country to continue</h1><a href="/us">United States</a>']
  ] as const)
    it.live(`is no shop without products: ${what}`, () =>
      Effect.gen(function* () {
        const { domain } = yield* Fixture.open((request, response, base) => {
          const isHome = request.url === "/"
          send(response, isHome ? 200 : 404, isHome ? page(base, "Shop", html) : "")
        })
        const outcome = yield* testOf(domain, "browse")
        assert.strictEqual(line(outcome), "discovery?")
        assert.match(outcome.steps[0]?.detail ?? "", /asks something/)
      }).pipe(Effect.scoped)
    )
})

it.live("a variation of WooCommerce is called by its words", () =>
  Effect.gen(function* () {
    const { domain } = yield* Woo.open({ variations: 3 })
    const outcome = yield* testOf(domain, "add_to_cart")
    assert.strictEqual(outcome.product?.variant, "Size 0")
    assert.include(outcome.steps[2]?.detail, "Size 2")
  }).pipe(Effect.scoped)
)

it.live("of pages that show a price, and sell by telephone alone, it is not said that none gives a price", () =>
  Effect.gen(function* () {
    const { domain } = yield* Fixture.open((request, response, base) => {
      const html = (body: string) => send(response, 200, page(base, "Fabrics", body))
      if (request.url === "/") return html('<a href="/product/tweed">Tweed</a>')
      if (request.url === "/product/tweed")
        return html('<h1>Tweed</h1><p>$25.00</p><a href="/contact">Call to order</a>')
      return send(response, 404, "")
    })
    const outcome = yield* testOf(domain, "search")
    assert.match(outcome.steps[1]?.detail ?? "", /show a price, and have neither/)
  }).pipe(Effect.scoped)
)
