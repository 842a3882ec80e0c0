import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { judgedPage } from "#services/ShoppingEngine/Payments.ts"

const judgedOf = (choices: string) => {
  const html = `<form method="post" action="/zloz">${choices}<button>OK</button></form>`
  return judgedPage(readPage(html, new URL("https://shop.example/pay")), { currency: "PLN", isWhole: true })
}
const radio = (name: string, value: string, label: string) =>
  `<label><input type="radio" name="${name}" value="${value}"> ${label}</label>`

describe("a page on which one chooses how to pay", () => {
  it("is read where its fields are named in other languages", () => {
    for (const name of ["platnosc", "zpusob_platby", "fizetes", "maksutapa", "oplata_оплата"]) {
      const { methods, status } = judgedOf(radio(name, "1", "BLIK") + radio(name, "2", "Przelew"))
      assert.deepStrictEqual([status, methods.map(({ method }) => method)], ["passed", ["bank_transfer", "blik"]], name)
    }
  })

  it("that offers only what nobody here knows does not offer nothing", () => {
    const { blockers, detail, status } = judgedOf(radio("platnosc", "tp", "Twisto na 30 dni"))
    assert.deepStrictEqual([status, blockers], ["unknown", []])
    assert.include(detail, "methods that we do not know: Twisto na 30 dni")
    const list = '<select name="payment"><option value="">Choose</option><option value="1">Barter</option></select>'
    assert.include(judgedOf(list).detail, "do not know: Barter;")
    assert.strictEqual(judgedOf("").blockers[0]?.id, "no_payment_method")
  })
})
