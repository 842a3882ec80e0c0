import { assert, describe, it } from "vitest"
import {
  isAsideAddress,
  isReviewPage,
  isStepBeforeOrder,
  ordersByLook,
  reviewLink,
  saysOrder,
  soundsLikeDeed,
  takesOrders
} from "#domain/Deeds.ts"
import { cpuTime } from "./CpuTime.ts"

/** These fields as a script sends them that hands over a form: in parts. */
const inParts = (fields: Record<string, string>, end = "\r\n") =>
  [
    ...Object.entries(fields).flatMap(([name, value]) => [
      "------x",
      `Content-Disposition: form-data; name="${name}"`,
      "",
      value
    ]),
    "------x--",
    ""
  ].join(end)

const url = (path: string, host = "shop.example") => new URL(path, `https://${host}`)

describe("a platform's page on which an order is looked at", () => {
  it("may be looked at when the platform's page before it leads there, though its address sounds like the deed", () => {
    assert.isTrue(soundsLikeDeed(url("/checkout/confirm")))
    for (const from of ["/account/register", "/checkout/register", "/checkout/cart", "/de/checkout/register"])
      assert.isTrue(isReviewPage(url(from), url("/checkout/confirm")), from)
    assert.isTrue(isReviewPage(url("/en/checkout/register"), url("/en/checkout/confirm?redirected=1")))
    for (const from of ["/shop/address", "/shop/checkout?express=1", "/de/shop/cart"])
      assert.isTrue(isReviewPage(url(from), url("/shop/confirm_order")), from)
  })

  it("is gone on to by the first link to it, whatever that is called", () => {
    const to = (...paths: ReadonlyArray<string>) => paths.map((path) => ({ href: url(path).href }))
    const links = to("/shop/cart", "/shop/confirm_order", "/de/shop/confirm_order")
    assert.strictEqual(reviewLink(links, url("/shop/checkout"))?.pathname, "/shop/confirm_order")
    assert.isUndefined(reviewLink(links, url("/shop/payment")))
    assert.isUndefined(reviewLink([{ href: "http://[" }, ...to("/confirm_order")], url("/shop/checkout")))
  })

  it("may not from anywhere else, at another host, or with something that orders", () => {
    for (const from of ["/", "/cart", "/checkout", "/checkout/order"])
      assert.isFalse(isReviewPage(url(from), url("/checkout/confirm")), from)
    assert.isFalse(isReviewPage(url("/checkout/register", "other.example"), url("/checkout/confirm")))
    for (const to of ["/order/confirm", "/checkout/confirm/pay", "/checkout/order", "/checkout/confirm?place_order=1"])
      assert.isFalse(isReviewPage(url("/checkout/register"), url(to)), to)
    assert.isFalse(isReviewPage(url("/shop/payment"), url("/shop/confirm_order")))
    assert.isFalse(isReviewPage(url("/checkout"), url("/confirm_order")))
  })
})

describe("a step of PrestaShop's checkout, which sends all of them to one address", () => {
  it("is told from an order by its fields, in any language of that address", () => {
    for (const path of ["/order", "/es/pedido", "/commande", "/bestellung?id_address=0", "/ordine"])
      for (const body of [
        "firstname=A&email=a%40b.example&submitCreate=1&continue=1",
        "address1=1+Road&saveAddress=delivery&use_same_address=1&confirm-addresses=1",
        "delivery_option%5B7%5D=1%2C&delivery_message=&confirmDeliveryOption=1",
        "step=2&processAddress=1",
        "step=3&processCarrier=1&cgv=1"
      ])
        assert.isFalse(takesOrders(url(path), body), `${path} ${body}`)
    for (const call of ["/pedido?ajax=1&action=addressForm", "/order?ajax=1&action=selectDeliveryOption"])
      assert.isFalse(takesOrders(url(call), "id_country=6"), call)
  })

  it("is none by an empty field, by another call, without a field that only a step has, or with a way to pay", () => {
    for (const [path, body] of [
      ["/order", ""],
      ["/order", "submitCreate="],
      ["/order", "firstname=A&email=a%40b.example&continue=1"],
      ["/order?ajax=1&action=order", "a=1"],
      ["/order?action=addressForm", "a=1"],
      ["/order", "confirmDeliveryOption=1&payment_method=cod"]
    ] as const)
      assert.isTrue(takesOrders(url(path), body), `${path} ${body}`)
  })

  it("excuses no address that orders by its own words", () => {
    for (const path of ["/order/confirm", "/place-order", "/module/ps_wirepayment/validation"])
      assert.isTrue(takesOrders(url(path), "submitCreate=1"), path)
    assert.isTrue(isStepBeforeOrder(url("/order/confirm"), "submitCreate=1"))
  })
})

describe("where platforms take orders", () => {
  it.each([
    ["Magento", "/rest/default/V1/guest-carts/Xy1/payment-information"],
    ["Magento, of customers", "/rest/V1/carts/mine/payment-information"],
    ["WooCommerce, without a version", "/wp-json/wc/store/checkout"],
    ["WooCommerce, without permalinks", "/?rest_route=/wc/store/v1/checkout"],
    ["PrestaShop, without friendly addresses", "/index.php?fc=module&module=ps_wirepayment&controller=validation"],
    ["OpenCart 3", "/index.php?route=extension/payment/cod/confirm"],
    ["OpenCart 4", "/index.php?route=extension/opencart/payment/cod.confirm"],
    ["OXID", "/index.php?cl=order&fnc=execute"],
    ["Wix", "/_api/ecom/v1/checkouts/7/createOrder"],
    ["VTEX", "/api/checkout/pub/orderForm/7a/transaction"],
    ["Salesforce", "/on/demandware.store/Sites-X-Site/en/COSummary-Submit"],
    ["tRPC", "/api/trpc/cart.get,order.create?batch=1"],
    ["own ones", "/send_order.php"],
    ["of carts", "/api/cart/submit"]
  ])("nothing is sent: %s", (_, path) => assert.isTrue(takesOrders(url(path))))

  it.each([
    ["Shopify", '{"operationName":"SubmitForCompletion","variables":{}}'],
    ["commercetools", '{"query":"mutation { createMyOrderFromCart(draft: {}) { id } }"}'],
    ["WooCommerce, many calls at once", '{"requests":[{"path":"/wc/store/v1/checkout","method":"POST"}]}'],
    ["the same, as PHP writes it", '{"requests":[{"path":"\\/wc\\/store\\/v1\\/checkout"}]}'],
    ["OXID", "stoken=1&cl=order&fnc=execute&ord_agb=1"],
    ["Remix", "_action=placeOrder&cart=1"],
    ["WordPress", "action=send_order&phone=1"]
  ])("nothing is sent that says so: %s", (_, body) => assert.isTrue(saysOrder(body)))

  const ordering = [
    ["action", "place_order"],
    ["action", "woocommerce_checkout"],
    ["wc-ajax", "checkout"],
    ["woocommerce-process-checkout-nonce", "1a"],
    ["payload", '{"action":"place_order"}'],
    ["operations", '{"operationName":"SubmitForCompletion"}']
  ] as const
  for (const [name, value] of ordering) {
    it(`nothing is sent that says so in any packing of a form: ${name}=${value}`, () => {
      const fields = { email: "a@b.example", [name]: value, note: "two\r\n--lines" }
      const packed = {
        urlencoded: new URLSearchParams(fields).toString(),
        "in parts": inParts(fields),
        "in parts of bare lines": inParts(fields, "\n"),
        "in parts, with another header first": inParts(fields).replaceAll(
          "Content-D",
          "Content-Type: a/b\r\nContent-D"
        ),
        "in parts, behind a long one": inParts({ picture: "A".repeat(300_000), ...fields }),
        "in parts, unquoted": inParts(fields).replaceAll(/name="([^"]*)"/g, "name=$1"),
        "in parts, behind a file": `------x\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n\u0000\r\n${inParts(fields)}`,
        "a line each": Object.entries(fields)
          .map((field) => field.join("="))
          .join("\r\n")
      }
      for (const [how, body] of Object.entries(packed)) assert.isTrue(saysOrder(body), how)
    })
  }

  it("are not meant by what a buyer writes into a field in parts", () => {
    for (const fields of [
      { action: "add_to_cart", note: "action=place_order" },
      { filename: "place_order", comment: "please place order soon", event: "add" }
    ])
      assert.isFalse(saysOrder(inParts(fields)), inParts(fields))
  })

  it("bodies in parts are judged in no time, however many or long", () => {
    const header = "Content-Disposition: form-data"
    for (const part of [`${header};`, `${header};name=${";".repeat(900)}`, `${header}\r\n\r\n\r--`, "\n--", "; "]) {
      const body = `${header}; name="a"${part.repeat(200_000 / part.length)}`
      const before = cpuTime()
      assert.isFalse(saysOrder(body))
      assert.isBelow(cpuTime() - before, 250, part)
    }
  })

  it("is told from where they fill a cart, ship, or say what a total comes to", () => {
    for (const path of [
      "/rest/default/V1/guest-carts/Xy1/shipping-information",
      "/rest/default/V1/guest-carts/Xy1/set-payment-information",
      "/?rest_route=/wc/store/v1/cart/add-item",
      "/index.php?route=checkout/cart/add",
      "/index.php?cl=basket&fnc=tobasket",
      "/api/checkout/pub/orderForm/7a/items",
      "/api/trpc/cart.add?batch=1",
      "/cart/checkout"
    ])
      assert.isFalse(takesOrders(url(path)), path)
    for (const body of [
      '{"requests":[{"path":"/wc/store/v1/cart/add-item","method":"POST"}]}',
      "_action=addToCart&id=1",
      "cl=details&fnc=tobasket&am=1"
    ])
      assert.isFalse(saysOrder(body), body)
  })

  it("a mere look orders at some of them, and so is none", () => {
    for (const path of [
      "/module/ps_cashondelivery/validation",
      "/index.php?route=extension/payment/cod/confirm",
      "/fr/shop/payment/validate"
    ])
      assert.isTrue(ordersByLook(url(path)) && soundsLikeDeed(url(path)), path)
    assert.isFalse(ordersByLook(url("/index.php?route=checkout/checkout")))
  })
})

describe("an address that a page made up", () => {
  it("says by its words what is done there", () => {
    for (const path of ["/kaufvorgang-abschluss", "/auftragsabschluss.html", "/bestell_abschicken/abschluss"])
      assert.isTrue(takesOrders(url(path)), path)
    for (const path of ["/newsletter/", "/filiale-reservieren", "/store-hold"])
      assert.isTrue(isAsideAddress(url(path)), path)
    assert.isFalse(isAsideAddress(url("/cart/add")))
  })

  it.each([
    ["", "bestell"],
    ["", "auftrags"],
    ["", "kauf"],
    ["filial", "reservi"]
  ])("is judged in no time, however long: %s%s…", (first, word) => {
    const long = url(`/${first}${word.repeat(40_000 / word.length)}!`)
    const before = cpuTime()
    assert.isFalse(takesOrders(long) || isAsideAddress(long))
    assert.isBelow(cpuTime() - before, 250)
  })
})
