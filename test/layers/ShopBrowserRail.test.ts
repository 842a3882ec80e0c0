import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { meaningOf } from "#layers/ShopBrowser/Fields.ts"
import { mayPress } from "#layers/ShopBrowser/Press.ts"
import { isOrder, placesOrder } from "#layers/ShopBrowser/OrderLock.ts"
import type { ScriptShopOptions } from "../shops/ScriptShop.ts"
import { ShopBrowser } from "#services/ShopBrowser.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const { missing } = Harness
const listed: Array<string> = []
const shopOf = (options: ScriptShopOptions = {}) =>
  Effect.flatMap(ShopBrowser, (browser) =>
    Effect.map(Harness.shopIn(browser, listed, options), (shop) => ({ ...shop, rail: Harness.patient(shop.rail) }))
  )

describe("what may be pressed", () => {
  const never = [
    "Place order",
    "Place your order",
    "Complete purchase",
    "Confirm order",
    "Pay",
    "Pay now",
    "Pay $35.00",
    "Buy now",
    "Buy with Google Pay",
    "PayPal",
    "Check out with PayPal",
    "Order now",
    "Submit order",
    "Continue with PayPal",
    "Zahlungspflichtig bestellen",
    "Jetzt kaufen",
    "Weiter zu PayPal",
    "Passer la commande",
    "Payer",
    "Realizar pedido",
    "Pagar",
    "Finalizar compra",
    "Effettua ordine",
    "Bestelling plaatsen",
    "注文を確定する",
    "提交订单",
    "결제하기"
  ]
  const purposes = [
    "addToCart",
    "toCheckout",
    "asGuest",
    "goOn",
    "remove",
    "refuseCookies",
    "acceptCookies",
    "option"
  ] as const
  it("nothing that orders or pays, whatever it is pressed for", () => {
    for (const name of never)
      for (const purpose of purposes) assert.isFalse(mayPress([name], purpose), `${name} for ${purpose}`)
    assert.isFalse(mayPress(["Continue", "Place order"], "goOn"), "one name that orders outweighs the others")
  })

  it("what a shopper needs, in the languages of most shops", () => {
    const allowed: ReadonlyArray<readonly [(typeof purposes)[number], ReadonlyArray<string>]> = [
      [
        "addToCart",
        [
          "Add to cart",
          "ADD TO BAG",
          "Add to basket – $12",
          "In den Warenkorb",
          "Ajouter au panier",
          "Añadir al carrito",
          "Aggiungi al carrello",
          "Adicionar ao carrinho",
          "In winkelwagen",
          "Lägg i varukorgen",
          "Læg i kurv",
          "Dodaj do koszyka",
          "カートに入れる",
          "加入购物车",
          "장바구니 담기"
        ]
      ],
      ["toCheckout", ["Checkout", "Proceed to checkout", "Zur Kasse"]],
      ["asGuest", ["Continue as guest", "Checkout as guest", "Als Gast fortfahren", "Continuer en tant qu’invité"]],
      ["goOn", ["Continue", "Continue to shipping", "Continue to payment", "Save and continue", "Weiter", "Continuer"]],
      ["goOn", ["Continue to Addresses", "Continuar a Pago", "Weiter zur Zahlung", "Continuer vers la livraison"]],
      [
        "goOn",
        ["Procedi con la spedizione", "Continuar para o pagamento", "Verder naar bezorging", "Przejdź do płatności"]
      ],
      [
        "goOn",
        "Continue checkout|Kassiervorgang fortsetzen|Continuer le paiement|Continuar finalización de la compra|Continuar check-out|Fortsæt til betaling|Продолжить оформление|继续结账|الاستمرار إلى الدفع".split(
          "|"
        )
      ],
      ["remove", ["Remove", "Entfernen", "×"]]
    ]
    for (const [purpose, names] of allowed) for (const name of names) assert.isTrue(mayPress([name], purpose), name)
  })

  it("a request that would order is stopped even when a page makes it by itself", () => {
    for (const path of [
      "/api/orders",
      "/?wc-ajax=checkout",
      "/wp-json/wc/store/v1/checkout",
      "/rest/V1/carts/mine/payments",
      "/checkout/complete"
    ])
      assert.isTrue(placesOrder("POST", new URL(path, "https://shop.example")), path)
    for (const path of [
      "/api/cart/mine/items",
      "/cart/add.js",
      "/api/carts/1/paymentMethods",
      "/api/graphql",
      "/order/items"
    ])
      assert.isFalse(placesOrder("POST", new URL(path, "https://shop.example")), path)
    assert.isFalse(placesOrder("GET", new URL("https://shop.example/orders")))
  })

  it("a form that says how it is paid is stopped; a script that asks what that costs is not", () => {
    const url = new URL("https://shop.example/checkout")
    const said = (body: string, isDocument = true) => isOrder({ method: "POST", url, body, isDocument })
    const multipart = '--x\r\nContent-Disposition: form-data; name="zahlungsart"\r\n\r\nnachnahme\r\n--x--'
    for (const body of ["plz=1&forma_pago=reembolso", "plz=1&opt=nachnahme", multipart]) {
      assert.isTrue(said(body), body)
      assert.isFalse(said(body, false), body)
    }
    for (const body of ["plz=1&forma_pago=&versandart=dhl", multipart.replace("nachnahme", "")])
      assert.isFalse(said(body), body)
  })
})

describe("what a field is for", () => {
  const field = (autocomplete: string | null, name = "", label = "") => meaningOf({ autocomplete, name, label })
  it("is said by the autofill token, then the name, then the label", () => {
    assert.strictEqual(field("shipping postal-code", "city", "Country"), "postalCode")
    assert.strictEqual(field("off", "field-shippingAddress.full_name"), "fullName")
    assert.strictEqual(field(null, "billing[address_1]"), "line1")
    assert.strictEqual(field(null, "address_2"), "other")
    assert.strictEqual(field(null, "street[0]"), "line1")
    assert.strictEqual(field(null, "street[1]", "Street Address: Line 2"), "other")
    assert.strictEqual(field(null, "x17", "Address: Line 2"), "other")
    assert.strictEqual(field(null, "x17", "Postleitzahl *"), "postalCode")
    assert.strictEqual(field(null, "x17", "Country/region"), "country")
    assert.strictEqual(field("cc-number", "email"), "other")
    assert.strictEqual(field(null, "coupon", "Enter coupon code"), "other")
    assert.strictEqual(field(null, "username", "Email Address"), "other")
    assert.strictEqual(
      meaningOf({ autocomplete: null, name: "username", label: "Email Address", type: "email" }),
      "email",
      "as in Magento's checkout"
    )
  })

  it("is said in the languages in which pages are read, and in Japan by which part of a name it is", () => {
    const asked = {
      "お名前（姓）": "lastName",
      "お名前（名）": "firstName",
      "フリガナ（セイ）": "kana",
      郵便番号: "postalCode",
      都道府県: "region",
      市区町村: "city",
      番地: "line1",
      Имя: "firstName",
      Příjmení: "lastName",
      会社名: "other"
    }
    for (const [label, meaning] of Object.entries(asked)) assert.strictEqual(field(null, "x17", label), meaning, label)
  })
})

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("shopping in a browser", (it) => {
    for (const choice of ["select", "radios", "swatches", "beside", "none"] as const) {
      it.effect(`a choice of kind ${choice} is made, and the cart is read back from its own page`, () =>
        Effect.gen(function* () {
          const { log, mug, rail } = yield* shopOf({ choice })
          const cart = yield* rail.cart(mug)
          assert.deepInclude(cart, { status: "passed", price: "12.00", blockers: [] }, JSON.stringify(cart))
          assert.deepStrictEqual([...log.carts.values()].flat(), [choice === "none" ? "Blue mug, one" : "Blue mug, L"])
          yield* rail.cleanUp
          assert.deepStrictEqual([...log.carts.values()].flat(), [], "and it is emptied")
        })
      )
    }

    it.effect("goes as far as the ways to pay, and never orders", () =>
      Effect.gen(function* () {
        const { fixture, log, mug, rail } = yield* shopOf({ payments: ["Credit card", "PayPal"] })
        yield* rail.cart(mug)
        const checkout = yield* rail.checkout
        assert.deepInclude(checkout, { status: "passed", total: "17.00", blockers: [] }, JSON.stringify(checkout))
        assert.match(checkout.detail, /email, fullName, line1, city, postalCode.*Standard shipping \$5\.00/)
        const payment = yield* rail.payment
        assert.strictEqual(payment.status, "passed", payment.detail)
        assert.sameMembers(
          payment.methods.map(({ method }) => method),
          ["card", "paypal"]
        )
        yield* rail.cleanUp
        assert.strictEqual(log.orders, 0)
        assert.notInclude(fixture.asked, "POST /api/orders")
      })
    )

    it.effect("a page that orders by itself is stopped", () =>
      Effect.gen(function* () {
        const { fixture, log, mug, rail } = yield* shopOf({ isGreedy: true })
        yield* rail.cart(mug)
        assert.strictEqual((yield* rail.checkout).status, "passed")
        assert.strictEqual(log.orders, 0)
        assert.notInclude(fixture.asked, "POST /api/orders")
      })
    )

    const cartStops: ReadonlyArray<readonly [string, ScriptShopOptions, string]> = [
      ["options that are no controls", { choice: "spans" }, "variant_required"],
      ["a control that does nothing", { button: "silent" }, "add_to_cart_failed"],
      ["no control at all", { button: "none" }, "add_to_cart_failed"],
      ["a product that is sold out", { button: "sold out" }, "out_of_stock"]
    ]
    for (const [what, options, blocker] of cartStops) {
      it.effect(`${what} stop at the cart with ${blocker}`, () =>
        Effect.gen(function* () {
          const { mug, rail } = yield* shopOf(options)
          const cart = yield* rail.cart(mug)
          assert.strictEqual(cart.status, "failed", cart.detail)
          assert.deepInclude(cart.blockers.at(-1) ?? {}, { id: blocker, severity: "blocking", step: "cart" })
          assert.strictEqual((yield* rail.checkout).status, "unknown", "what comes after was not tried")
        })
      )
    }

    const checkoutStops: ReadonlyArray<readonly [string, ScriptShopOptions, string]> = [
      ["a login without a way around it", { wall: "account" }, "account_required"],
      ["a captcha", { wall: "captcha" }, "captcha_required"],
      ["an address that nothing is shipped to", { shipping: false }, "no_shipping_option"]
    ]
    for (const [what, options, blocker] of checkoutStops) {
      it.effect(`${what} stops at the checkout with ${blocker}`, () =>
        Effect.gen(function* () {
          const { mug, rail } = yield* shopOf(options)
          yield* rail.cart(mug)
          const checkout = yield* rail.checkout
          assert.strictEqual(checkout.status, "failed", checkout.detail)
          assert.deepInclude(checkout.blockers.at(-1) ?? {}, { id: blocker, severity: "blocking", step: "checkout" })
        })
      )
    }

    it.effect("a login with a way around it is passed as a guest", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({ wall: "guest" })
        yield* rail.cart(mug)
        assert.strictEqual((yield* rail.checkout).status, "passed")
      })
    )

    const paymentStops: ReadonlyArray<readonly [string, ReadonlyArray<string>, string]> = [
      ["no way to pay", [], "no_payment_method"]
    ]
    for (const [what, payments, blocker] of paymentStops) {
      it.effect(`${what} stops at the payment with ${blocker}`, () =>
        Effect.gen(function* () {
          const { mug, rail } = yield* shopOf({ payments })
          yield* rail.cart(mug)
          yield* rail.checkout
          const payment = yield* rail.payment
          assert.deepInclude(payment.blockers.at(-1) ?? {}, { id: blocker, severity: "blocking", step: "payment" })
        })
      )
    }

    it.effect("a way to pay later is a warning", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({ payments: ["Cash on delivery"] })
        yield* rail.cart(mug)
        assert.notInclude((yield* rail.checkout).detail, "Cash", "it is no way of shipping")
        const payment = yield* rail.payment
        assert.strictEqual(payment.status, "passed")
        assert.deepStrictEqual(
          payment.methods.map(({ method }) => method),
          ["cash_on_delivery"],
          "what a page only loads is not offered"
        )
        assert.deepInclude(payment.blockers[0] ?? {}, { id: "only_deferred_payment", severity: "warning" })
      })
    )
  })
}
