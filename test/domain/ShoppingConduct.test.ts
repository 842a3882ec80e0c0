import { assert, describe, it } from "vitest"
import { mayPress } from "#layers/ShopBrowser/Press.ts"
import { cartLink, checkoutLink, formsFor, guestLink, requestFor } from "#services/ShoppingEngine/FormPages.ts"
import { fill } from "#domain/ShopperForm.ts"
import { shoppers } from "#domain/TestShopper.ts"
import { readPage } from "#domain/page/Page.ts"
import { type FormPurpose, maySubmit } from "#domain/FormConduct.ts"
import { mayOrder } from "#domain/OrderingWords.ts"
import { mayAsk, vendureDocuments } from "#domain/ShoppingConduct.ts"

const may = (line: string, body?: unknown) => {
  const [method = "", path = ""] = line.split(" ")
  const url = new URL(path, "https://shop.example")
  return mayAsk({ method, url, body: body === undefined ? undefined : JSON.stringify(body) })
}

describe("what a test may send by itself", () => {
  it("is looks, carts and checkouts", () => {
    const lines = [
      "GET /",
      "GET /checkout",
      "GET /cart/shipping_rates.json?x=1",
      "POST /cart/add.js",
      "POST /cart/clear.js",
      "POST /wp-json/wc/store/v1/cart/add-item",
      "DELETE /wp-json/wc/store/v1/cart/items",
      "POST /rest/V1/guest-carts/Ab1/shipping-information",
      "POST /api/cart/mine/items",
      "PUT /checkout-sessions/1",
      "POST /checkout-sessions/1/cancel"
    ]
    for (const line of lines) assert.isTrue(may(line, {}), line)
  })

  it("is nothing that places an order, at any shop that we know", () => {
    const lines = [
      "POST /wp-json/wc/store/v1/checkout",
      "PUT /wp-json/wc/store/v1/checkout",
      "PUT /rest/V1/guest-carts/Ab1/order",
      "POST /rest/V1/guest-carts/Ab1/payment-information",
      "POST /api/orders",
      "POST /api/storefront/orders",
      "POST /api/carts/1/checkout",
      "POST /checkout-sessions/1/complete",
      "POST /checkouts/complete",
      "POST /checkout",
      "POST /orders",
      "POST /graphql",
      "GET /checkout/place-order",
      "GET /order/confirm",
      "GET /payment/process",
      "GET /account/logout",
      "GET /checkout/place%2Dorder",
      "GET /index.php?route=checkout/confirm",
      "GET /cart.php?action=place_order",
      "GET /?wc-ajax=checkout",
      "GET /product?place_order=1",
      "PATCH /cart",
      "DELETE /account"
    ]
    for (const line of lines) assert.isFalse(may(line, {}), line)
  })

  it("is a look whose words only sound like it in a search", () => {
    for (const line of [
      "GET /search?q=buy-now",
      "GET /login?return_to=/order/confirm",
      "GET /cart.php?action=checkout"
    ])
      assert.isTrue(may(line), line)
  })

  it("is of a tool's calls those on the list, whatever the address", () => {
    const call = (name: string, method = "tools/call") =>
      may("POST /mcp", { jsonrpc: "2.0", id: 1, method, params: { name } })
    assert.isTrue(call("create_checkout"))
    assert.isTrue(call("cancel_checkout"))
    assert.isTrue(call("", "tools/list"))
    for (const name of ["complete_checkout", "create_order", "pay", "CREATE_CHECKOUT", ""])
      assert.isFalse(call(name), name)
    assert.isFalse(call("create_checkout", "orders/create"))
    assert.isFalse(may("POST /mcp", [{ method: "tools/list" }]))
  })

  it("is of Vendure's documents those on the list, none of which pays or moves an order on", () => {
    for (const query of Object.values(vendureDocuments)) {
      assert.isTrue(may("POST /shop-api", { query }))
      assert.notMatch(query, /addPayment|transition|Payment\w*\(|placeOrder/)
    }
    assert.isFalse(may("POST /shop-api", { query: "mutation { addPaymentToOrder(input: {}) { __typename } }" }))
    assert.isFalse(may("POST /shop-api", { query: `${vendureDocuments.cart} mutation { x }` }))
  })
})

const submits = (purpose: FormPurpose, button: string, fields = "", action = "/checkout/next") => {
  const html = `<form method="post" action="${action}">${fields}<button>${button}</button></form>`
  const [form] = readPage(html, new URL("https://shop.example/page")).forms
  return form !== undefined && maySubmit(form, button, purpose)
}

describe("a form", () => {
  it("is submitted when its button names the purpose", () => {
    assert.isTrue(submits("add_to_cart", "Add to cart", "", "/cart/add"))
    assert.isTrue(submits("go_on", "Continue to shipping"))
    assert.isTrue(submits("go_on", "Continue to payment"))
    assert.isTrue(submits("guest", "Check out as guest"))
    assert.isTrue(submits("empty_cart", "Empty cart"))
  })

  it("goes on and empties a cart in the languages that a browser knows", () => {
    for (const button of [
      "Étape suivante",
      "Avançar",
      "Doorgaan",
      "Nästa steg",
      "Fortsæt",
      "Jatka",
      "Przejdź dalej",
      "Pokračovat",
      "Devam et",
      "Далее",
      "次へ進む",
      "下一步",
      "다음 단계"
    ]) {
      assert.isTrue(submits("go_on", button), button)
      assert.isTrue(mayPress([button], "goOn"), button)
    }
    for (const button of ["Dalej i zapłać", "Pokračovat a zaplatit", "Далее оплатить", "Devam et ve öde", "Jatkaja"])
      assert.isFalse(submits("go_on", button), button)
    for (const button of ["Usuń", "Fjern", "Удалить", "削除"])
      assert.isTrue(submits("empty_cart", button, "", "/cart/empty"), button)
    assert.isFalse(submits("empty_cart", "Удалить аккаунт", "", "/cart/empty"))
    assert.isFalse(submits("empty_cart", "حذف الحساب", "", "/cart/empty"))
    for (const button of ["カートを空にする", "إفراغ السلة", "רוקן סל", "Xóa giỏ hàng"])
      assert.isTrue(submits("empty_cart", button, "", "/cart/empty"), button)
  })

  it("takes a line out of a cart at an address that says so, and nothing else at such", () => {
    assert.isTrue(submits("empty_cart", "Entfernen", "", "/checkout/line-item/delete/abc"))
    assert.isFalse(submits("go_on", "Continue", "", "/checkout/line-item/delete/abc"))
    assert.isFalse(submits("empty_cart", "Entfernen", '<input name="email">', "/checkout/line-item/delete/abc"))
    for (const action of ["/account/delete/abc", "/checkout/line-item/delete/abc/place-order", "/checkout/delete"])
      assert.isFalse(submits("empty_cart", "Entfernen", "", action), action)
  })

  it("is not what only begins like a way on or out of the cart, in a script without spaces as well", () => {
    for (const [name, purpose] of [
      ["Удалить аккаунт", "remove"],
      ["削除アカウント", "remove"],
      ["次へ進んで送信", "goOn"],
      ["Далее принять всё", "goOn"]
    ] as const)
      assert.isFalse(mayPress([name], purpose), name)
    assert.isTrue(mayPress(["✕ Удалить"], "remove"))
    assert.isTrue(mayPress(["次へ ›"], "goOn"))
  })

  it("is not when its button orders or pays, in any of the languages", () => {
    const buttons = [
      "Place order",
      "Pay now",
      "Continue and pay",
      "Complete purchase",
      "Confirm order",
      "Jetzt kaufen",
      "Zahlungspflichtig bestellen",
      "Commander",
      "Realizar pedido",
      "Finalizar compra",
      "Effettua ordine",
      "Submit",
      "Confirm checkout",
      "Place checkout",
      "Express checkout",
      "Check out in one tap",
      "结算并支付",
      "تأكيد الطلب",
      "متابعة وإتمام الطلب",
      "اشتر الآن",
      "ثبت سفارش",
      "בצע הזמנה",
      "אישור הזמנה",
      "Đặt hàng",
      "ยืนยันคำสั่งซื้อ",
      "ऑर्डर करें",
      "Завершить покупку",
      "Оформити замовлення",
      "Сплатити",
      "Alışverişi tamamla",
      "إتمام عملية الشراء",
      "إكمال الطلب",
      "تکمیل خرید",
      "注文手続きを完了する"
    ]
    for (const button of buttons) {
      assert.isTrue(mayOrder(button), button)
      for (const purpose of ["add_to_cart", "guest", "go_on", "empty_cart"] as const) {
        assert.isFalse(submits(purpose, button, "", "/cart/add"), `${button} for ${purpose}`)
      }
      assert.isFalse(mayPress([button], "toCheckout"), button)
    }
  })

  it("is not when it asks how to pay, for a password, or goes where orders are placed", () => {
    assert.isFalse(submits("go_on", "Continue", '<input name="card_number">'))
    assert.isFalse(submits("go_on", "Continue", '<input type="radio" name="payment_method" value="cod" checked>'))
    assert.isFalse(submits("go_on", "Continue", '<input name="x" autocomplete="cc-csc">'))
    assert.isFalse(submits("go_on", "Continue", '<input type="password" name="p">'))
    assert.isFalse(submits("go_on", "Continue", "", "/checkout/place-order"))
  })

  it("is not when what it sends unseen orders, whatever its button says", () => {
    const hidden = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`
    for (const field of [
      hidden("action", "place_order"),
      hidden("place_order", "1"),
      hidden("woocommerce-process-checkout-nonce", "x"),
      hidden("op", "buy")
    ]) {
      assert.isFalse(submits("go_on", "Continue", field), field)
    }
    for (const field of [
      hidden("_method", "patch"),
      hidden("order_complete_url", "/thanks"),
      hidden("action", "update")
    ]) {
      assert.isTrue(submits("go_on", "Continue", field), field)
    }
    for (const action of [
      "/orders",
      "/checkout/complete",
      "/pay/",
      "/cart?wc-ajax=checkout",
      "/?action=submit-order"
    ]) {
      assert.isFalse(submits("go_on", "Continue", "", action), action)
    }
  })

  it("goes where its pressed button says, and that is judged", () => {
    const page = (action: string, button: string) => {
      const html = `<form method="post" action="${action}"><button ${button}>Continue</button></form>`
      return formsFor(readPage(html, new URL("https://shop.example/page")), "go_on")
    }
    assert.lengthOf(page("/next", 'formaction="/orders"'), 0)
    assert.lengthOf(page("/next", 'name="place_order" value="1"'), 0)
    const [pressable] = page("/orders", 'formaction="/next"')
    assert.isDefined(pressable)
    const sent =
      pressable &&
      requestFor(pressable, fill(pressable.form, pressable.button, shoppers.US), new URL("https://shop.example/page"))
    assert.strictEqual(String(sent?.url), "https://shop.example/next")
  })
})

describe("a link", () => {
  const page = (links: ReadonlyArray<readonly [path: string, text: string]>) =>
    readPage(links.map(([path, text]) => `<a href="${path}">${text}</a>`).join(" "), new URL("https://shop.example/x"))

  it("leads to the cart, the checkout and past a login in languages of most shops", () => {
    for (const [cart, checkout, guest] of [
      ["Winkelwagen", "Naar de kassa", "Doorgaan zonder account"],
      ["Varukorgen", "Till kassan", "Fortsätt som gäst"],
      ["Kurv", "Til kassen", "Fortsæt uden konto"],
      ["Ostoskori", "Kassalle", "Jatka vieraana"],
      ["Twój koszyk", "Przejdź do kasy", "Kup bez rejestracji"],
      ["Košík", "K pokladně", "Bez registrace"],
      ["Корзина", "Перейти к оформлению", "Продолжить без регистрации"],
      ["カート", "レジに進む", "ゲストとして購入"]
    ] as const) {
      const facts = page([
        ["/a", cart],
        ["/b", checkout],
        ["/c", guest]
      ])
      const found = [cartLink(facts), checkoutLink(facts), guestLink(facts)].map((url) => url?.pathname)
      assert.deepStrictEqual(found, ["/a", "/b", "/c"], cart)
    }
  })
})
