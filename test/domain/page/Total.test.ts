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
    ["Ara toplam ₺1.200,00 Kargo ₺99,00 Toplam ₺1.299,00", "1299.00"],
    ["Ara toplam ₺1.200,00", null],
    ["Välisumma 25,00 € Toimitus 5,00 € Yhteensä 30,00 €", "30.00"],
    ["Subtotal 1.200,00 kr. Levering 34,00 kr. Samlet beløb 1.234,00 kr.", "1234.00"],
    ["Delsumma 1 200 kr Frakt 34 kr Att betala 1 234 kr", "1234"],
    ["총 상품금액 10,000원 배송비 2,000원 총 결제금액 12,000원", "12000"],
    ["총 상품금액 10,000원", null],
    ["Részösszeg 10 990 Ft Szállítás 2 000 Ft Összesen 12 990 Ft", "12990"],
    ["Υποσύνολο 25,00 € Σύνολο 30,00 €", "30.00"],
    ["المجموع الفرعي 100.00 ر.س الإجمالي 120.00 ر.س", "120.00"],
    ["المجموع الفرعي 100.00 ر.س", null],
    ['סכום ביניים ₪ 40.00 סה"כ ₪ 49.90', "49.90"],
    ["Total (3 items) $36.00", "36.00"],
    ["Total 3 items $36.00", "36.00"],
    ["Total $17.00 Total tax $1.00 Total savings $2.00", "17.00"],
    ["Total products $12.00 Total shipping $5.00", null],
    ["Total (Inclusive of tax $0.00)", null],
    ["ยอดรวม ฿400.00", "400.00"],
    ["ยอดรวมสินค้า ฿350.00", null],
    ["कुल ₹1,20,050.00", "120050.00"],
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
