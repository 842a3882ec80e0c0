import { assert, describe, it } from "vitest"
import { buyingAtOnce, type FormPurpose, maySubmit, mayTakeOrder, orderingForm } from "#domain/FormConduct.ts"
import { readPage } from "#domain/page/Page.ts"

const pageOf = (button: string, fields: string, action: string) =>
  readPage(
    `<form method="post" action="${action}">${fields}<button>${button}</button></form>`,
    new URL("https://shop.example/page")
  )
const submits = (purpose: FormPurpose, button: string, fields = "", action = "/checkout/next") => {
  const [form] = pageOf(button, fields, action).forms
  return form !== undefined && maySubmit(form, button, purpose)
}
const address = '<label>Street <input name="street"></label><label>ZIP <input name="zip"></label>'

describe("a form whose button names shipping as what comes next", () => {
  it("goes on, in the languages in which that is known", () => {
    for (const label of ["配送方法の選択へ進む", "Zum Versand", "Vers la livraison", "Na dopravu", "배송 선택"])
      assert.isTrue(submits("go_on", label, address), label)
  })
})

describe("a form that adds to a cart", () => {
  it("is not sent when it asks who somebody is or where", () => {
    for (const field of [
      '<label>Your name <input name="x1"></label>',
      '<input name="kontakt" type="tel">',
      '<textarea name="address"></textarea>',
      '<input name="PHONE" placeholder="Телефон">',
      '<input name="f" autocomplete="email">',
      '<input name="whatsapp">'
    ]) {
      for (const button of ["Buy now", "Add to cart", "Comprar"])
        assert.isFalse(submits("add_to_cart", button, field, "/cart/add"), `${button} ${field}`)
    }
  })

  it("is sent when it asks only what is to be made, in the languages of most shops", () => {
    const fields =
      '<label>Engraving text <input name="engraving"></label><select name="attribute_size"><option>S</option></select><input type="number" name="anzahl">'
    for (const button of [
      "Add to cart",
      "Buy now",
      "In den Warenkorb",
      "Añadir al carrito",
      "Comprar",
      "Ajouter au panier",
      "Acheter",
      "Aggiungi al carrello",
      "Acquista",
      "Adicionar ao carrinho",
      "In winkelwagen",
      "Lägg i varukorg",
      "Köp",
      "Dodaj do koszyka",
      "Do košíku",
      "Купить",
      "В корзину",
      "カートに入れる"
    ])
      assert.isTrue(submits("add_to_cart", button, fields, "/cart/add"), button)
  })
})

describe("a form that buys at once", () => {
  const words = [
    "Buy now",
    "Buy it now",
    "Buy",
    "Comprar",
    "Acheter",
    "Acquista",
    "Köp",
    "Køb",
    "Купить",
    "立即购买",
    "구매하기"
  ]

  it("is sent only to an address that is known to fill a cart", () => {
    for (const button of words) {
      assert.isTrue(submits("add_to_cart", button, "", "/cart/add"), button)
      assert.isTrue(
        submits("add_to_cart", button, '<input type="hidden" name="add-to-cart" value="7">', "/p/7"),
        button
      )
      for (const action of [
        "/checkout/express",
        "/orders/new",
        "/create-checkout-session",
        "/checkout-sessions",
        "/buy-now",
        "/quick-order",
        "/process.php",
        "/product/7"
      ])
        assert.isFalse(submits("add_to_cart", button, '<input type="hidden" name="product" value="7">', action), action)
    }
    for (const button of ["Jetzt kaufen", "One-click buy", "Купить в 1 клик", "Order now", "Buy with PayPal"])
      assert.isFalse(submits("add_to_cart", button, "", "/cart/add"), button)
  })

  it("is not sent when it says unseen that it orders, whatever its button says", () => {
    for (const name of ["a", "action", "do", "intent"])
      assert.isFalse(
        submits("add_to_cart", "Add to cart", `<input type="hidden" name="${name}" value="order">`, "/do"),
        name
      )
    assert.isTrue(submits("add_to_cart", "Add to cart", '<input type="hidden" name="a" value="add">', "/do"))
  })

  it("is never sent to another host than the shop's", () => {
    const sent = (host: string, button = "Add to cart") => {
      const page = readPage(
        `<form method="post" action="https://${host}/cart/add"><button>${button}</button></form>`,
        new URL("https://www.shop.example/p")
      )
      const [form] = page.forms
      return form !== undefined && maySubmit(form, button, "add_to_cart", form.controls[0], page)
    }
    for (const host of ["www.shop.example", "shop.example", "cart.shop.example"]) assert.isTrue(sent(host), host)
    for (const host of ["www.paypal.com", "shop.example.evil.example", "shop.example:8443", "myshop.example"])
      assert.isFalse(sent(host), host)
  })

  it("is what a page offers that has nothing else; a newsletter is not", () => {
    const at = (html: string) => buyingAtOnce(readPage(html, new URL("https://shop.example/p")))
    assert.strictEqual(at('<form action="/orders/new" method="post"><button>Buy now</button></form>'), "Buy now")
    assert.strictEqual(at("<button>Book now</button>"), "Book now")
    assert.isUndefined(at('<form><input type="email" name="email"><button>Subscribe</button></form>'))
  })
})

describe("a form that goes on", () => {
  it("is not sent when it chooses how to pay, by any of its names or by what it offers", () => {
    const radio = (name: string, value: string, label = "x") =>
      `<label><input type="radio" name="${name}" value="${value}" checked> ${label}</label>`
    for (const field of [
      radio("m", "1", "الدفع عند التسليم"),
      radio("m", "1", "כרטיס אשראי"),
      radio("m", "1", "Chuyển khoản"),
      radio("zahlungsart", "1"),
      radio("zahlart", "1"),
      radio("forma_pago", "1"),
      radio("mode_paiement", "1"),
      radio("metodoPagamento", "1"),
      radio("betaalwijze", "1"),
      radio("betalingsmate", "1"),
      radio("metoda_platnosci", "1"),
      radio("zpusob_platby", "1"),
      radio("способ_оплаты", "1"),
      ...[
        "nachnahme",
        "vorkasse",
        "rechnung",
        "reembolso",
        "contrareembolso",
        "contra-entrega",
        "transferencia",
        "virement",
        "bonifico",
        "contrassegno",
        "cod",
        "cash_on_delivery",
        "bank_transfer",
        "invoice",
        "наложенный платеж"
      ].map((value) => radio("opt", value)),
      radio("opt", "3", "Contra reembolso"),
      '<select name="x"><option value="1">Nachnahme</option><option value="2">Vorkasse</option></select>',
      '<label for="s">Zahlungsart</label><select id="s" name="x"><option value="1">A</option></select>',
      '<input type="hidden" name="forma_pago" value="3">',
      '<input type="hidden" name="x" value="cod">'
    ])
      assert.isFalse(submits("go_on", "Weiter", address + field), field)
  })

  it("is sent with choices of anything else", () => {
    for (const field of [
      '<label><input type="radio" name="anrede" value="f"> Frau</label>',
      '<label><input type="radio" name="shipping_method" value="standard"> Standard shipping</label>',
      '<select name="address_type"><option>Invoice address</option><option>Delivery address</option></select>',
      '<input type="hidden" name="payment_url" value="https://shop.example/pay">',
      '<input type="hidden" name="payment_token">',
      '<label><input type="checkbox" name="privacy"> Privacy</label>'
    ])
      assert.isTrue(submits("go_on", "Continue", address + field), field)
  })

  it("is not sent where orders are taken, in the languages of most shops", () => {
    for (const action of [
      "/bestellung/abschluss",
      "/bestellung",
      "/kaufabschluss.php",
      "/finalizar-compra/",
      "/pedido/finalizar",
      "/pedido",
      "/passer-commande",
      "/commande",
      "/ordine",
      "/acquista",
      "/bestelling",
      "/afrekenen",
      "/beställ",
      "/zamowienie",
      "/zakaz",
      "/заказ",
      "/order.php",
      "/checkout/place",
      "/checkout/confirm",
      "/module/cashondelivery/validation",
      "/checkout?action=bestellen",
      "/orders/new",
      "/checkout/express",
      "/create-checkout-session",
      "/buy-now",
      "/quick-order",
      "/api/bookings",
      "/reserve"
    ])
      assert.isFalse(submits("go_on", "Continue", address, action), action)
    for (const action of ["/bestellung/adresse", "/checkout/address", "/kasse", "/order/items"])
      assert.isTrue(submits("go_on", "Continue", address, action), action)
  })

  it("is not sent by a button that has anything to do with orders, or with the terms of a sale", () => {
    for (const button of [
      "Weiter zum Bestellabschluss",
      "Weiter und kaufen",
      "Continuar y finalizar el pedido",
      "Continuer la commande",
      "Avanti: ordina",
      "Verder met bestellen",
      "Continue and place the order"
    ])
      assert.isFalse(submits("go_on", button, address), button)
    for (const button of ["Weiter zur Zahlung", "Continue to pickup", "Continuer", "Continuar", "Avanti", "Verder"])
      assert.isTrue(submits("go_on", button, address), button)
    const terms = '<label><input type="checkbox" name="agb" required> Ich akzeptiere die AGB</label>'
    assert.isFalse(submits("go_on", "Weiter", address + terms))
  })

  it("may be the whole order once it says who and where, unless it names a later step, whatever it says of paying", () => {
    const held = (button: string, text: string, given: ReadonlyArray<string> = ["email", "street-address"]) => {
      const page = readPage(
        `${text}<form method="post" action="/checkout">${address}<button>${button}</button></form>`,
        new URL("https://shop.example/checkout")
      )
      return mayTakeOrder(given, button, page, page.forms[0])
    }
    for (const text of [
      "You pay cash on delivery.",
      "Zahlung: Einzahlungsschein, Rechnung wird beigelegt",
      "Pay at the counter when you collect.",
      "You pay by card.",
      ""
    ]) {
      for (const button of ["Continue", "Weiter", "Proceed to payment", "Continue to payment"])
        assert.isTrue(held(button, text), `${button} ${text}`)
      assert.isFalse(held("Continue to shipping", text))
      assert.isFalse(held("Continue", text, ["email", "name"]), "a shop that only knows who it is")
    }
    const listed = '<ol class="steps"><li aria-current="step">Address</li><li>Payment</li></ol>'
    assert.isFalse(held("Continue to payment", listed))
  })

  it("is sent to a checkout's own page that has an address of orders only while it asks who it is, or lists a later step", () => {
    const who = '<label>Nom <input name="lastname"></label><label>E-mail <input name="email" type="email"></label>'
    const sent = (fields: string, more = "", path = "/commande") => {
      const page = readPage(
        `${more}<form method="post" action="/commande">${fields}<button>Continuer</button></form>`,
        new URL(path, "https://shop.example")
      )
      const [form] = page.forms
      return form !== undefined && maySubmit(form, "Continuer", "go_on", form.controls.at(-1), page)
    }
    assert.isTrue(sent(who))
    assert.isFalse(sent(who, "", "/panier"), "another page's form")
    assert.isFalse(sent(who + address))
    assert.isFalse(sent(""), "a form that asks nothing may be the last")
    assert.isTrue(sent(address, '<ol class="steps"><li class="current">Adresse</li><li>Paiement</li></ol>'))
  })
})

describe("a control that a browser presses by its name", () => {
  it("is judged by the form around it", () => {
    const page = pageOf("Weiter", `${address}<input type="hidden" name="zahlungsart" value="1">`, "/next")
    assert.isDefined(orderingForm(page, ["weiter "], "go_on"))
    assert.isUndefined(orderingForm(page, ["Suchen"], "go_on"))
    assert.isUndefined(orderingForm(pageOf("Weiter", address, "/next"), ["Weiter"], "go_on"))
    const landing = pageOf("In den Warenkorb", '<input type="tel" name="telefon">', "/cart/add")
    assert.isDefined(orderingForm(landing, ["In den Warenkorb"], "add_to_cart"))
  })
})
