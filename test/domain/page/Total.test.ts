import { assert, describe, it } from "vitest"
import { totalIn } from "#domain/page/Total.ts"

describe("the total that a text states", () => {
  const totals: ReadonlyArray<readonly [string, string | null]> = [
    ["Sub total $12.00 Shipping $5.00 Total (Inclusive of tax $0.00) $17.00", "17.00"],
    ["Sub total\n$12.00\nShipping\n$5.00\nTotal (Inclusive of tax $1.00)\n$17.00", "17.00"],
    ["Zwischensumme 10,00 € Versand 4,90 € Gesamtsumme 14,90 € (inkl. 2,38 € MwSt.)", "14.90"],
    ["Subtotal $12.00 Order total: USD 17.00", "17.00"],
    ["Sous-total 10,00 € Total TTC 14,90 €", "14.90"],
    ["Subtotaal € 9,95 Verzending € 4,95 Ordertotaal € 14,90", "14.90"],
    ["Zwischensumme 10,00 € Versand 4,90 € Endbetrag 14,90 €", "14.90"],
    ["Промежуточный итог 100,00 ₽ Итого 150,00 ₽", "150.00"],
    ["小計 ¥1,000 合計 ¥1,500", "1500"],
    ["Total (3 items) $36.00", "36.00"],
    ["Total 3 items $36.00", "36.00"],
    ["Total $17.00 Total tax $1.00 Total savings $2.00", "17.00"],
    ["Total products $12.00 Total shipping $5.00", null],
    ["Total (Inclusive of tax $0.00)", null],
    ["Subtotal $12.00", null],
    ["Total is calculated at the next step, after delivery and taxes. Mug $12.00", null],
    ["Product Total Mug 2 $12.00", null]
  ]
  for (const [text, total] of totals)
    it(`${JSON.stringify(text)}: ${total}`, () => assert.strictEqual(totalIn(text), total))

  it("is found in time, whatever the text", () => {
    for (const piece of ["Total (", "total [", "sub total ", "Total 1 ", "合計"])
      assert.isNull(totalIn(piece.repeat(20_000)))
  })
})
