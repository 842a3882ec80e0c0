import { fieldOf } from "./CheckoutFields.ts"
import type { PageControl, PageFacts, PaymentMark } from "./PageFacts.ts"

/** What a page shows of how it can be paid. */
export interface PaymentSigns {
  /** What can be chosen, and fields for a card. */
  readonly choices: ReadonlyArray<PaymentMark>
  /** Scripts and marks of providers, which many shops load on every page whether they are switched on or not. */
  readonly marks: ReadonlyArray<PaymentMark>
  /** The page's own words that there is no way to pay. */
  readonly none: string | undefined
}

/** What counts of it. */
export interface PaymentOffer {
  readonly methods: ReadonlyArray<PaymentMark>
  readonly none: string | undefined
  /** The page says itself what there is, by choices or in words; otherwise only its source hints at it. */
  readonly isStated: boolean
}

/** What the page lets a buyer choose counts before its words, and these before what is only loaded. */
export const countedOf = ({ choices, marks, none }: PaymentSigns): PaymentOffer => {
  const isStated = choices.length > 0 || none !== undefined
  const methods = new Map<string, PaymentMark>()
  for (const mark of isStated ? choices : marks) if (!methods.has(mark.method)) methods.set(mark.method, mark)
  return { methods: [...methods.values()], none: choices.length > 0 ? undefined : none, isStated }
}

const saysNone = new RegExp(
  [
    "no (?:(?:available|suitable|valid|supported|active|eligible) )?payment (?:methods?|options?|providers?)(?!\\p{L})(?! (?:is |are )?(?:selected|chosen|required|needed|necessary|saved|stored|on file|fees?|yet))",
    "(?:keine|keinerlei) (?:(?:verfügbar|geeignet|passend|gültig|aktiv)en? )?(?:zahlungs(?:art|methode|möglichkeit|weise|option)(?:e?n)?|bezahlmethoden?)(?!\\p{L})(?! (?:ausgewählt|gewählt|gespeichert|hinterlegt))",
    "aucun(?:e)? (?:moyen|mode|méthode|option) de paiement(?!\\p{L})(?! (?:enregistré|sélectionné|choisi))",
    "(?:no (?:hay|existen|se han encontrado)|ningún|ninguna) (?:métodos?|formas?|medios?|opciones|opción) de pago(?!\\p{L})(?! (?:guardad|seleccionad))",
    "(?:nessuna? |non ci sono |non è stato possibile trovare un(?:a |\\p{P})?\\s?)(?:metod[oi]|modalità|opzion[ei]) di pagamento(?!\\p{L})(?! (?:salvat|selezionat))",
    "(?:nenhum(?:a)?|não (?:há|existem)|não foi possível encontrar uma?) (?:métodos?|formas?|meios?|opç(?:ão|ões)) de pagamento(?!\\p{L})(?! (?:salv|guardad|selecionad))",
    "geen (?:(?:beschikbare|geschikte|passende) )?betaal(?:methoden?|methodes|wijzen?|opties?|mogelijkheden)(?!\\p{L})(?! (?:geselecteerd|gekozen|opgeslagen))",
    "inga (?:tillgängliga )?betal(?:nings)?(?:sätt|metoder|alternativ)",
    "(?:ingen|ikke fundet nogen|ikke funnet noen) (?:(?:tilgængelige|tilgjengelige|passende|egnede) )?betalings(?:metoder?|mulighed(?:er)?|måter?|alternativer)",
    "brak (?:dostępnych |odpowiednich )?(?:metod|form|sposobów) płatności",
    "žádn(?:é|á) (?:(?:dostupn|vhodn)[éá] )?(?:platební metod|způsoby? platby|možnosti? platby)",
    "(?:нет (?:доступных |подходящих )?|не удалось найти подходящий )(?:способов|способ|вариант|вариантов) оплаты",
    "(?:利用可能な|ご利用いただける|適切な)(?:お)?(?:支払い?|決済)(?:方法|オプション)(?:は|が)(?:ありません|ございません|見つかりません)",
    "(?:(?:没有|沒有)可用|找不到(?:合适|合適|可用))的?(?:付款|支付)方式",
    "(?:사용|이용) ?가능한 결제 ?(?:수단|방법)이 없|적절한 결제 ?(?:옵션|방법|수단)을 찾을 수 없",
    "(?:لا توجد (?:طرق|خيارات)|لم نتمكن من العثور على (?:خيار|طريقة)) (?:ال)?دفع",
    "không tìm thấy phương thức thanh toán|ไม่พบ(?:ตัวเลือก|วิธี|ช่องทาง)การชำระเงิน"
  ]
    .map((words) => `(?:(?<!\\p{L})${words})`)
    .join("|"),
  "iu"
)

/** The page's own words that there is no way to pay. */
export const statesNoMethod = ({ visibleText }: Pick<PageFacts, "visibleText">): string | undefined =>
  saysNone.exec(visibleText)?.[0]

const otherCard = /gift|voucher|coupon|loyal|bonus|member|reward|customer/i

const isCardField = (control: PageControl): boolean => {
  const { autocomplete, id, label, name } = control
  const names = `${name ?? ""} ${id ?? ""}`
  return (
    autocomplete === "cc-number" ||
    /card[-_]?(?:num|no\b)|cc[-_]?num/i.test(names) ||
    // Drupal Commerce calls it "number", and says what it is by its label alone.
    (control.tag === "input" && fieldOf(control) === "cc-number" && !otherCard.test(`${names} ${label ?? ""}`))
  )
}

/** The signs on a page as its HTML has them. A field for a card is a choice. */
export const paymentSigns = (facts: PageFacts): PaymentSigns => {
  const choices = facts.payments.filter(({ by }) => by === "choice")
  const marks = facts.payments.filter(({ by }) => by === "source")
  const field = [...facts.controls, ...facts.forms.flatMap(({ controls }) => controls)].find(isCardField)
  const card: ReadonlyArray<PaymentMark> =
    field === undefined || choices.some(({ method }) => method === "card")
      ? []
      : [{ method: "card", class: "agent", marker: field.label ?? field.name ?? "card number" }]
  return { choices: [...choices, ...card], marks, none: statesNoMethod(facts) }
}

/** How a page says that it can be paid. */
export const paymentOffer = (facts: PageFacts): PaymentOffer => countedOf(paymentSigns(facts))
