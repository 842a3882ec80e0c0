import { assert, describe, it } from "vitest"
import { maySubmit } from "#domain/FormConduct.ts"
import { isAtPayment, isEnoughToOrder, isStepFurther, nextStepOf } from "#domain/NextStep.ts"
import { readPage } from "#domain/page/Page.ts"

const page = (html: string, path = "/checkout") => readPage(html, new URL(path, "https://shop.example"))
const steps = (...items: ReadonlyArray<string>) =>
  `<ol class="checkout-steps">${items.map((item) => (item.startsWith("*") ? `<li class="is-active">${item.slice(1)}</li>` : `<li>${item}</li>`)).join("")}</ol>`
const later = (html: string, label = "Continue") => nextStepOf(label, page(html)) !== undefined

describe("a later step of a checkout", () => {
  it("is named by a button that goes to shipping, in the languages that are known", () => {
    for (const label of [
      "Continue to shipping",
      "Continue to delivery method",
      "Next: shipping",
      "Weiter zum Versand",
      "Weiter zur Lieferung",
      "Continuer vers la livraison",
      "Passer à la livraison",
      "Continuar al envío",
      "Continua alla spedizione",
      "Continuar para a entrega",
      "Verder naar verzending",
      "Fortsätt till leverans",
      "Fortsæt til levering",
      "Fortsett til frakt",
      "Jatka toimitukseen",
      "Przejdź do dostawy",
      "Pokračovat k dopravě",
      "Teslimat adımına geç",
      "Перейти к доставке",
      "配送方法へ進む",
      "前往配送",
      "배송 방법 선택",
      "المتابعة إلى الشحن",
      "המשך למשלוח",
      "Chọn phương thức vận chuyển"
    ])
      assert.isTrue(later("", label), label)
  })

  it("is not named by a button that only goes on, nor by one that goes to the payment", () => {
    for (const label of [
      "Continue",
      "Next",
      "Continue to payment",
      "Proceed to payment",
      "Weiter",
      "Weiter zur Zahlung",
      "Continuer",
      "Passer au paiement",
      "Continuar al pago",
      "Avanti",
      "Verder",
      "次へ",
      "Ship to this address"
    ])
      assert.isFalse(later("", label), label)
  })

  it("is a payment or a review that the page lists behind the current step, in the languages that are known", () => {
    for (const name of [
      "Payment",
      "3. Review & Payments",
      "Zahlungsart",
      "Prüfen",
      "Paiement",
      "Pago",
      "Pagamento",
      "Riepilogo",
      "Betaling",
      "Betalning",
      "Maksu",
      "Płatność",
      "Platba",
      "Ödeme",
      "Оплата",
      "お支払い",
      "付款",
      "결제",
      "الدفع",
      "مراجعة الطلب",
      "תשלום",
      "پرداخت",
      "Thanh toán",
      "การชำระเงิน",
      "भुगतान"
    ])
      assert.isTrue(later(steps("*Address", name)), name)
  })

  it("is none that is current or behind, that ends the order, or that says how one pays", () => {
    assert.isFalse(later(steps("Payment", "*Address")))
    assert.isFalse(later(steps("Address", "*Payment", "Done")))
    assert.isFalse(later(steps("Address", "Payment")), "no step is current")
    for (const name of [
      "Order complete",
      "Confirmation",
      "Thank you",
      "Payment: invoice",
      "Rechnung",
      "Shipping",
      "الشحن",
      "اكتمل الدفع",
      "Hoàn tất thanh toán"
    ])
      assert.isFalse(later(steps("*Address", name)), name)
    assert.isFalse(later('<ul class="menu"><li class="active">Shop</li><li>Payment</li></ul>'), "a menu")
  })

  it("is none that comes with the goods, long after the order", () => {
    for (const name of [
      "Payment on delivery",
      "Pay the courier on arrival",
      "Pay in store",
      "Zahlung bei Abholung",
      "Bezahlung nach Lieferung",
      "Paiement à la réception",
      "Pago al recibir",
      "Pago contra entrega",
      "Pagamento na entrega",
      "Pagamento alla consegna",
      "Betaling bij aflevering",
      "Betalning vid leverans",
      "Płatność przy odbiorze",
      "Platba při převzetí",
      "Kapıda ödeme",
      "Оплата при получении",
      "Оплата курьеру",
      "货到付款",
      "お支払い（到着時）",
      "الدفع عند الاستلام",
      "תשלום לשליח",
      "پرداخت در محل",
      "Thanh toán khi nhận hàng",
      "ชำระเงินปลายทาง"
    ])
      assert.isFalse(later(steps("*Address", name)), name)
  })

  it("is told by aria-current, by the marks of Magento and of Shopify, and by a heading below which nothing stands yet", () => {
    assert.isTrue(later('<nav><a aria-current="step">Contact</a><a>Payment</a></nav>'))
    assert.isTrue(
      later(
        '<ul class="opc-progress-bar"><li class="opc-progress-bar-item _active"><span>Shipping</span></li><li class="opc-progress-bar-item"><span>Review & Payments</span></li></ul>'
      )
    )
    assert.isTrue(
      later(
        '<ol class="breadcrumb"><li class="breadcrumb__item"><a>Cart</a></li><li class="breadcrumb__item breadcrumb__item--current" aria-current="step">Information</li><li class="breadcrumb__item">Payment</li></ol>'
      )
    )
    const prestashop = (payment: string) =>
      `<section id="content"><section class="checkout-step -reachable -complete"><h1>1 Informations personnelles</h1></section><section class="checkout-step -current"><h1>2 Adresses</h1><form><input name="address1"></form></section><section class="checkout-step -unreachable"><h1>3 Paiement</h1>${payment}</section></section>`
    assert.isTrue(later(prestashop(""), "Continuer"))
    assert.isFalse(later(prestashop("<p>Facture jointe au colis.</p>"), "Continuer"), "one page for everything")
  })

  it("is told by the headings of steps that are numbered, of which one is open", () => {
    const panel = (heading: string, body = "") =>
      `<div class="panel"><div><h4>${heading}</h4></div><div>${body}</div></div>`
    const asked = "<div><input name='address_1'><input type='button' value='Continue'></div>"
    for (const [word, payment] of [
      ["Step", "Payment Method"],
      ["Schritt", "Zahlungsart"],
      ["Étape", "Mode de paiement"],
      ["Krok", "Metoda płatności"]
    ]) {
      const opencart = (at: number) =>
        `<div id="accordion">${panel(`${word} 1: A`, at === 1 ? asked : "")}${panel(`${word} 2: ${payment}`, at === 2 ? asked : "")}${panel(`${word} 3: B`)}</div>`
      assert.isTrue(later(opencart(1)), payment)
      assert.isFalse(later(opencart(2)), payment)
    }
    assert.isFalse(later(`<div>${panel("Step 1: Order")}${panel("Step 2: Payment")}</div>${asked}`), "an advertisement")
  })

  it("is told by steps that stand within links and boxes without a name, as Odoo's", () => {
    const step = (tag: string, name: string, more = "") =>
      `<${tag} class="no-decoration"><div class="d-flex ${more}"><p class="o_wizard_steplabel">${name}</p></div></${tag}>`
    const odoo = (...all: ReadonlyArray<string>) =>
      `<div class="o_wizard"><div class="d-flex">${all.join("")}</div><div class="o_wizard_circle">2 of 3</div></div>`
    const before = step("a", "Review Order", "o_wizard_step-done")
    const current = "o_wizard_step_active"
    assert.isTrue(later(odoo(before, step("span", "Shipping", current), step("span", "Payment"))))
    assert.isFalse(later(odoo(before, step("a", "Shipping"), step("span", "Payment", current))))
  })

  it("is told by the list that is named steps, whatever above it or around it looks like one", () => {
    const luma =
      '<ul class="opc-progress-bar"><li class="opc-progress-bar-item _active"><span>Shipping</span></li><li class="opc-progress-bar-item"><span>Review & Payments</span></li></ul>'
    for (const page of [
      `<nav class="breadcrumbs"><a>Home</a><a class="current">Checkout</a></nav>${luma}`,
      `<div class="checkout-progress-wrap"><div class="title">Checkout</div>${luma}</div>`,
      `<div class="stages"><div class="active">New</div><div>Sale</div></div>${luma}`
    ])
      assert.isTrue(later(page), page)
  })

  it("is told by boxes of which those to come have nothing but their heading yet, as Medusa's", () => {
    const box = (heading: string, more = "") =>
      `<div><div><h2>${heading}</h2></div>${more}<div class="line"></div></div>`
    const asked = "<form><input name='city'><button>Continue to payment</button></form>"
    const boxes = (...all: ReadonlyArray<string>) => `<div class="grid">${all.join("")}</div>`
    const first = box("Shipping Address", "<p>Ana</p><button>Edit</button>")
    assert.isTrue(later(boxes(first, box("Delivery", asked), box("Payment"), box("Review"))))
    assert.isFalse(later(boxes(first, box("Delivery", asked), box("Returns"), box("Help"))), "no payment to come")
    assert.isFalse(later(boxes(first, box("Delivery", asked), box("Payment", "<iframe></iframe>"))), "a card's field")
    assert.isFalse(later(boxes(first, box("Delivery", asked), box("Payment", "<div id='card'></div>"))), "its place")
    assert.isFalse(later(boxes(box("Delivery", asked), box("Payment"))), "two boxes are no row")
    assert.isTrue(later(boxes(box("Delivery", asked), box("Payment"), box("Review"))), "three are")
    assert.isFalse(later(boxes(`<p>${asked}</p>`, box("Delivery", asked), box("Payment"))), "a box without a heading")
    assert.isFalse(later(boxes(first, `<div>Or <h2>Delivery</h2>${asked}</div>`, box("Payment"))), "words before it")
    assert.isFalse(later(boxes(first, box("Delivery ".repeat(7), asked), box("Payment"))), "a sentence")
    assert.isFalse(later(boxes(box("Why", "<p>So</p>"), box("Help"), box("Payment"))), "nothing is asked")
  })

  it("is the one at which a page is that lists them", () => {
    assert.isTrue(isAtPayment(page(steps("Address", "*Payment", "Review"))))
    assert.isFalse(isAtPayment(page(steps("*Address", "Payment", "Review"))))
    assert.isFalse(isAtPayment(page("<h1>Payment</h1>")))
  })

  it("is known of a platform by its page and its form", () => {
    const form = (action: string) => ({ action: `https://shop.example${action}`, controls: [] })
    assert.isDefined(nextStepOf("Weiter", page("", "/checkout/register"), form("/account/register")))
    assert.isUndefined(nextStepOf("Weiter", page("", "/checkout/register"), form("/checkout/order")))
    assert.isUndefined(nextStepOf("Weiter", page("", "/checkout"), form("/account/register")))
  })

  it("leads through a platform's form with a password only where it is known that an empty one makes no account", () => {
    const sends = (password: string) => {
      const fields = `<input name="firstName"><input name="email" type="email"><input name="street"><input name="zipcode">${password}`
      const facts = page(
        `<form method="post" action="/account/register">${fields}<button>Weiter</button></form>`,
        "/checkout/register"
      )
      const [form] = facts.forms
      return form !== undefined && maySubmit(form, "Weiter", "go_on", undefined, facts)
    }
    assert.isTrue(sends(""))
    for (const more of ["", "required", 'value="secret"'])
      assert.isFalse(sends(`<input name="password" type="password" ${more}>`), more)
  })
})

describe("what is enough for an order", () => {
  it("is who somebody is and where, or how to call", () => {
    assert.isTrue(isEnoughToOrder(["email", "street-address"]))
    assert.isTrue(isEnoughToOrder(["name", "tel"]))
    assert.isTrue(isEnoughToOrder(["fullName", "phone"]))
    assert.isTrue(isEnoughToOrder(["tel"]))
    assert.isTrue(isEnoughToOrder(["phone"]))
    assert.isFalse(isEnoughToOrder(["email", "name"]))
    assert.isFalse(isEnoughToOrder(["street-address", "postal-code", "address-level2"]))
  })
})

describe("a form of Bagisto's checkout", () => {
  const names = ["billing.first_name", "billing.address.[0]", "billing.use_for_shipping"]
  const form = (fields: ReadonlyArray<string>, path = "/checkout/onepage") => {
    const facts = page(
      `<form>${fields.map((name) => `<input name="${name}">`).join("")}<button>Proceed</button></form>`,
      path
    )
    return nextStepOf("Proceed", facts, facts.forms[0])
  }

  it("opens the ways to ship, on its own page and with its own fields", () => {
    assert.strictEqual(form(names), "bagisto has a later step")
    assert.isUndefined(form(names, "/checkout"))
    for (const missing of names) assert.isUndefined(form(names.filter((name) => name !== missing)), missing)
  })
})

describe("a step further", () => {
  const at = (html: string) => page(html)
  const [first, second, last] = [
    steps("*Who", "Where", "Payment"),
    steps("Who", "*Where", "Payment"),
    steps("Who", "Where", "*Payment")
  ]

  it("is a later one of a list, with one to pay still to come", () => {
    assert.isTrue(isStepFurther(at(first), at(second)))
    for (const [before, after] of [
      [second, first],
      [first, first],
      [second, last],
      ["", second],
      [first, ""]
    ] as const)
      assert.isFalse(isStepFurther(at(before), at(after)))
  })
})
