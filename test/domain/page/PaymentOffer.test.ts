import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { paymentOffer, statesNoMethod } from "#domain/page/PaymentOffer.ts"

const page = (html: string) => readPage(html, new URL("https://shop.example/checkout"))
const offer = (html: string) => {
  const { isStated, methods } = paymentOffer(page(html))
  return [methods.map(({ method }) => method).join(" "), isStated]
}
const stripe = '<script src="https://js.stripe.com/v3/"></script>'
const cash = '<form><label><input type="radio" name="payment_method" value="cod"> Cash on delivery</label></form>'

describe("a mark in the source of a page", () => {
  it("is not what only looks like it", () => {
    const looks = [
      "<style>.b { -webkit-appearance: -apple-pay-button; -apple-pay-button-style: black }</style>",
      "<style>.paypal-button { color: red }</style>",
      '<p style="appearance: -apple-pay-button">Pay</p>',
      '<script>const css = ".b{-webkit-appearance:-apple-pay-button}"</script>',
      `<!-- ${stripe} -->`,
      `<template>${stripe}</template>`,
      "<script>\n// loaded from js.stripe.com/v3 before\n/* or https://www.paypal.com/sdk/js */\nstart()</script>",
      '<link rel="preconnect" href="https://js.stripe.com/"><link rel="dns-prefetch" href="//js.stripe.com/">',
      `<meta http-equiv="Content-Security-Policy" content="script-src https://js.stripe.com/">`,
      '<a href="https://www.link.com/help">Link</a><a href="https://deep-link.com/">x</a>',
      "<pre>&lt;script src=https://js.stripe.com/v3/&gt; js.stripe.com/v3</pre>"
    ]
    for (const html of looks) assert.deepStrictEqual(page(html).payments, [], html)
  })

  it("is a script, what a script does, and an element of a provider", () => {
    const marks = [
      [stripe, "stripe"],
      ['<script>load("https://js.stripe.com/v3/") // at once</script>', "stripe"],
      ['<script>const accept = "image/*"; load("https://js.stripe.com/v3/"); const all = "*/*"</script>', "stripe"],
      ["<script>if (window.ApplePaySession) show()</script>", "apple_pay"],
      ["<apple-pay-button></apple-pay-button>", "apple_pay"],
      ['<div id="apple-pay-button"></div>', "apple_pay"],
      ['<link rel="preload" as="script" href="https://js.stripe.com/v3/">', "stripe"]
    ] as const
    for (const [html, method] of marks) {
      assert.deepStrictEqual(
        page(html).payments.map(({ by, method }) => `${by} ${method}`),
        [`source ${method}`],
        html
      )
    }
  })
})

describe("how a page can be paid", () => {
  it("is what it lets a buyer choose, before what it loads", () => {
    assert.deepStrictEqual(offer(`${stripe}${cash}`), ["cash_on_delivery", true])
    assert.deepStrictEqual(offer(`${stripe}<input name="n" autocomplete="cc-number">`), ["card", true])
    assert.deepStrictEqual(offer(stripe), ["stripe", false])
  })

  it("is nothing where it says so, whatever it loads", () => {
    assert.deepStrictEqual(offer(`${stripe}<p>No payment methods available</p>`), ["", true])
  })

  it("is said to be nothing in several languages, and not where none was chosen or saved", () => {
    for (const words of [
      "Payment No payment methods available",
      "There are no payment methods available for your state.",
      "Es stehen leider keine Zahlungsarten zur Verfügung",
      "Keine Zahlungsmethoden verfügbar",
      "Aucun moyen de paiement n'est disponible",
      "No hay métodos de pago disponibles",
      "Nessun metodo di pagamento disponibile",
      "Nenhuma forma de pagamento disponível",
      "Geen betaalmethoden beschikbaar",
      "Inga betalningssätt tillgängliga",
      "Brak dostępnych metod płatności",
      "Нет доступных способов оплаты",
      "利用可能な支払い方法はありません",
      "没有可用的付款方式",
      // Odoo's, in its translations.
      "Pay with No suitable payment option could be found.",
      "Es konnte keine geeignete Zahlungsoption gefunden werden.",
      "Aucune option de paiement appropriée n'a pu être trouvée.",
      "No se encontró ningún método de pago adecuado.",
      "Non è stato possibile trovare un'opzione di pagamento adatta.",
      "Não foi possível encontrar uma opção de pagamento adequada.",
      "Geen geschikte betaaloptie gevonden.",
      "Der blev ikke fundet nogen passende betalingsmulighed.",
      "Nebyla nalezena žádná vhodná možnost platby.",
      "Не удалось найти подходящий вариант оплаты.",
      "適切な決済オプションが見つかりませんでした。",
      "找不到合适的付款方式。",
      "적절한 결제 옵션을 찾을 수 없습니다.",
      "لم نتمكن من العثور على خيار دفع مناسب.",
      "Không tìm thấy phương thức thanh toán nào phù hợp.",
      "ไม่พบตัวเลือกการชำระเงินที่เหมาะสม"
    ]) {
      assert.isDefined(statesNoMethod({ visibleText: words }), words)
    }
    for (const words of [
      "No payment method selected",
      "You have no payment methods saved",
      "No payment required",
      "Keine Zahlungsart ausgewählt",
      "No shipping methods available"
    ]) {
      assert.isUndefined(statesNoMethod({ visibleText: words }), words)
    }
  })
})

describe("a group of radio buttons", () => {
  const radio = (name: string, id: string, label: string) =>
    `<input type="radio" name="${name}" id="${name}-${id}" value="${id}"><label for="${name}-${id}">${label}</label>`

  it("is about paying as a whole where one of it is, whatever the group is called", () => {
    const group = `<form>${radio("basic", "creditCards", "Credit card")}${radio("basic", "PAYPAL_EXPRESS", "PayPal")}</form>`
    assert.deepStrictEqual(offer(group), ["card paypal", true])
  })

  it("is not where no button of it is, and where another group is", () => {
    const cards = radio("kind", "creditCards", "Credit card holders")
    assert.deepStrictEqual(offer(`<form>${cards}${radio("basic", "PAYPAL_EXPRESS", "PayPal")}</form>`), [
      "paypal",
      true
    ])
  })
})
