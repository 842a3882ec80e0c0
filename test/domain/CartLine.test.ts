import { assert, describe, it } from "vitest"
import { chargedIn } from "#domain/CartLine.ts"

const charged = (line: string, price: string | null, withTax: { readonly priceWithTax?: string } = {}) =>
  chargedIn(line, { price, ...withTax })

describe("what a line of a cart charges", () => {
  it("is what was said of the product, wherever the line has it", () => {
    assert.strictEqual(charged("Mug 1 $0.50 deposit $19.90 $39.80", "19.9"), "19.90")
    assert.strictEqual(charged("Mug 20 % VAT £10.00 £12.00", "10", { priceWithTax: "12.00" }), "10.00")
  })

  it("is the bare number that was said, as of a table whose head alone says what is money", () => {
    assert.strictEqual(charged("흰 머그컵 1개 (+0원) 1 11,900 0 선불 11,900 배송비 4,000 원", "11900"), "11900")
    assert.strictEqual(charged("Tasse 1 1.250 EUR 3 2,00", "1250"), "1250")
    assert.strictEqual(charged("كوب ١ ١٢٬٩٠٠", "12900"), "12900")
  })

  it("is no number that is a part of another, or may be a quantity", () => {
    assert.strictEqual(charged("Mug 1 211,900 ₩15,900", "11900"), "15900")
    assert.strictEqual(charged("Mug 12 pieces $14.50", "12"), "14.50")
  })

  it("is else the first price that is no option's, shipping or points", () => {
    assert.strictEqual(charged("Mug with lid (+$2.00) $14.50", "19.90"), "14.50")
    assert.strictEqual(charged("머그컵 배송비 4,000원 12,000원", "11900"), "12000")
    assert.strictEqual(charged("マグ 送料 500円 1,200円", "1000"), "1200")
    assert.isNull(charged("Mug (+0원) 배송비 4,000 원 적립금 119원", "11900"))
    assert.isNull(charged("Mug 1", "19.90"))
  })
})
