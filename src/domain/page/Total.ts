import { readPrices } from "./Price.ts"

const name =
  /(?<!\p{L}|sub[\s-]|sous[\s-]|ara\s)(?:(?:grand|order|estimated|invoice) )?(?:total(?:e|betrag|summe|preis|t)?|gesamt(?:betrag|summe|preis)?|(?:rechnungs|end|zahl)betrag|(?:end|bestell|rechnungs)summe|summe|sum|(?:order|eind|bestel)?totaal|summa|suma|razem|łącznie|do zapłaty|celkem|spolu|celkom|összesen|végösszeg|(?:genel\s)?toplam|ödenecek tutar|yhteensä|samlet (?:beløb|pris)|i alt|att betala|te betalen|σύνολο|tổng cộng|कुल(?: राशि| योग)?|جمع کل|مبلغ قابل پرداخت|итого|всего|разом|усього|الإجمالي|المجموع|סה["״']כ(?: לתשלום)?)(?!\p{L})|(?:合計|総額|总计|總計|合计|应付金额|應付金額|합계|ยอดรวม(?:ทั้งสิ้น|ทั้งหมด|สุทธิ)?(?!ย่อย|สินค้า)|รวมทั้ง(?:สิ้น|หมด)|총\s?(?:결제\s?|주문\s?)?(?:금액|액))/giu
/** After the name these make it the sum of something else. */
const ofElse =
  /^[\s:]{0,3}(?:parcial|partiel|savings?|saved|tax(?:es)?|vat|discounts?|shipping|delivery|weight|items?|qty|quantity|points|products?|ürün|الفرعي|الجزئي|ביניים|excl|exkl|zzgl|hors|ht)(?!\p{L})/iu
/** What is in brackets is a part of it, such as its tax, or says what it is. */
const brackets = /\([^()]{0,200}\)|\[[^[\]]{0,200}\]|（[^（）]{0,200}）/gu
/** How many things it is for. */
const count =
  /(?<!\p{L})\d{1,4} (?:items?|articles?|artikel|artículos?|articoli|artigos|produ[ck]ts?|produits?)(?!\p{L})/giu
/** How far behind its name the amount may stand. */
const reach = { brackets: 400, words: 40 }

const after = (text: string, at: number): string | undefined => {
  const rest = text.slice(at, at + reach.brackets)
  if (ofElse.test(rest)) return undefined
  const plain = rest.replace(brackets, " ").replace(count, " ").replace(/\s+/g, " ")
  const [price] = readPrices(plain)
  if (price === undefined || price.at > reach.words) return undefined
  return /\d/.test(plain.slice(0, price.at)) ? undefined : price.value
}

/** The total that a text states: the last of that name, with its amount behind it. What stands in brackets is not the total. */
export const totalIn = (text: string): string | null => {
  const names = [...text.matchAll(name)].slice(-100).toReversed()
  for (const found of names) {
    const value = after(text, found.index + found[0].length)
    if (value !== undefined) return value
  }
  return null
}
