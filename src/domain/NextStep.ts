import { isWayToPay } from "./Deeds.ts"
import type { AutofillToken } from "./page/CheckoutFields.ts"
import type { PageFacts, PageForm } from "./page/PageFacts.ts"

/** What tells that a page of a checkout is not its last. */
export type CheckoutPage = Pick<PageFacts, "url" | "steps">

/** Labels by which the next step is to choose how to ship, and so no order. A browser is asked for them, and takes no quotation mark. */
export const toShipping = [
  "\\b(?:to|next)\\b:?\\s+(?:the\\s+|your\\s+|choose\\s+)?(?:shipping|delivery)\\b",
  "^\\W*(?:continue|proceed|next|go)\\s+(?:with\\s+|on\\s+)?(?:shipping|delivery)\\b",
  "\\b(?:zu[rm]?|mit)\\s+(?:den\\s+|der\\s+)?(?:versand|liefer|zustell)",
  "(?:à|vers|pour)\\s+(?:la\\s+|le\\s+|l\\p{P})?(?:mode\\s+de\\s+)?(?:livraison|expédition)",
  "(?:al?|con)\\s+(?:la\\s+|el\\s+|los\\s+)?(?:env[ií]o|entrega)",
  "(?:all[ae]|con\\s+la)\\s+(?:spedizion|consegn)",
  "para\\s+(?:a\\s+|o\\s+)?(?:entrega|envio|frete)",
  "naar\\s+(?:de\\s+)?(?:verzend|bezorg|lever)",
  "(?:till|til)\\s+(?:frakt|leverans|levering|forsendelse|fragt|sending)",
  "toimitukseen|toimitustapa",
  "do\\s+(?:wyboru\\s+)?(?:dostawy|wysyłki)",
  "k\\s+(?:výběru\\s+)?(?:dopravě|dopravy|doručení)|na\\s+dopravu",
  "kargoya|teslimat(?:a|\\s+adımına)",
  "к\\s+(?:выбору\\s+(?:способа\\s+)?)?(?:доставк|способу\\s+доставк)",
  "(?:配送|お?届け)(?:方法|先)?(?:へ|に進|を選|の選)",
  "(?:前往|继续|繼續|去|至|到|选择|選擇)(?:选择|選擇)?(?:配送|送货|送貨|运送|運送|物流)",
  "배송(?:\\s*방법)?(?:으로|\\s*단계|\\s*선택)",
  "إلى\\s+(?:طريقة\\s+)?(?:الشحن|التوصيل)|(?:המשך|מעבר)\\s+ל(?:שיטת\\s+)?משלוח|(?:به|انتخاب)\\s+(?:روش\\s+)?ارسال",
  "(?:đến|sang|chọn)\\s+(?:phương\\s+thức\\s+)?(?:vận\\s+chuyển|giao\\s+hàng)|(?:ไปที่|เลือก)(?:วิธี)?(?:การ)?จัดส่ง|(?:शिपिंग|डिलीवरी)\\s+(?:पर|चुनें)"
].join("|")
const shippingNext = new RegExp(toShipping, "iu")

/** Whole labels by which the next step is to look at everything once more before it is ordered. */
export const toReview = [
  "(?:save\\s+(?:and|&)\\s+)?(?:continue|proceed|next|go)\\s*:?\\s*(?:on\\s+)?(?:to\\s+)?(?:the\\s+)?review",
  "weiter\\s+(?:zur|zu\\s+der|mit\\s+der)\\s+(?:überprüfung|übersicht|prüfung|zusammenfassung)",
  "continuer\\s+(?:vers|à|avec)\\s+(?:la\\s+|le\\s+)?(?:vérification|récapitulatif|révision)",
  "continuar\\s+(?:a|con|para)\\s+(?:la\\s+|a\\s+)?(?:revisión|revisão)",
  "(?:continua|prosegui)\\s+(?:con|al|alla)\\s+(?:la\\s+|il\\s+)?(?:revisione|riepilogo|verifica)",
  "(?:doorgaan|verder)\\s+naar\\s+(?:het\\s+|de\\s+)?(?:overzicht|controle)"
].join("|")
const reviewNext = new RegExp(`^\\W*(?:${toReview})\\W*$`, "iu")

/** Whether a button says that a look at everything comes next. */
export const namesReviewNext = (label: string): boolean => reviewNext.test(label.replace(/\s+/g, " ").trim())

/** Whether a button says that shipping comes next. */
export const namesShippingNext = (label: string): boolean => shippingNext.test(label.replace(/\s+/g, " ").trim())

/** Steps in which one pays, chooses how, or looks at everything once more. */
const payOrReview = new RegExp(
  [
    "payment|\\bpay\\b|billing\\s+method|\\breview\\b|\\bsummary\\b|check\\s+(?:your\\s+)?(?:order|details)",
    "zahl|bezahl|prüfen|überprüf|übersicht|zusammenfassung",
    "paiement|règlement|récapitulatif|vérif",
    "\\bpago|pagar|revis[aió]|resumen",
    "pagamento|riepilogo|verifica|\\bresumo",
    "betal|overzicht|controle|granska|sammanfattning|gennemse|oversigt|oppsummering",
    "maksu|maksutapa|yhteenveto|tarkist",
    "płatno|podsumowanie|platb|shrnutí|rekapitulace|souhrn",
    "ödeme|özet|оплат|проверк",
    "支払|確認|付款|支付|核对|核對|确认订单|確認訂單|结算|結算|결제|검토|주문\\s*확인",
    "الدفع|دفع|مراجعة|ملخص\\s+الطلب|תשלום|סקירה|סיכום|پرداخت|بازبینی|مرور\\s+سفارش",
    "thanh\\s+toán|xem\\s+lại|kiểm\\s+tra\\s+(?:lại|đơn)|ชำระ|ตรวจสอบ|भुगतान|समीक्षा"
  ].join("|"),
  "iu"
)
const done =
  /thank|complete|confirmation|success|done|danke|bestätigung|abgeschlossen|merci|termin|gracias|completad|grazie|completat|obrigad|conclu|bedankt|tack|takk?\b|kiitos|dzięk|děku|teşekkür|спасибо|完了|完成|완료|شكرا|اكتمل|اكتمال|תודה|הושלמ|متشکر|سپاس|تشکر|hoàn\s+(?:tất|thành)|cảm\s+ơn|เสร็จ|ขอบคุณ|धन्यवाद|पूर्ण/iu
const saidMore = /[:：–—-]\s*\p{L}|rechnung|invoice|\bcash\b|\bbar\b|nachnahme/iu

/** What is paid when the goods are handed over is paid after the order: no step of the checkout comes before it. */
const whenReceived = new RegExp(
  [
    "\\b(?:on|upon|at|after|in|by)\\s+(?:the\\s+)?(?:delivery|receipt|receiving|arrival|collection|pick[-\\s]?up|(?:the\\s+)?store|courier|door(?:step)?)|to\\s+(?:the\\s+)?courier",
    "(?:bei|nach|zur)\\s+(?:der\\s+)?(?:lieferung|abholung|erhalt|empfang|übergabe)|vor\\s+ort",
    "(?:à|a)\\s+la\\s+(?:livraison|réception|reception|entrega|recepción)|au\\s+retrait|contra\\s*(?:entrega|re+mbolso)|al\\s+(?:recibir|recoger|ritiro)|na\\s+entrega",
    "alla\\s+(?:consegna|ricezione)|bij\\s+(?:\\p{L}+\\s)?(?:levering|ontvangst|afhalen|aflevering)",
    "(?:vid|ved)\\s+(?:leverans|levering|mottag|modtag|avhent|afhent)|toimituksen\\s+yhteydessä|noudettaessa",
    "przy\\s+(?:odbiorze|dostawie)|za\\s+pobraniem|při\\s+(?:převzetí|doručení|dodání)|kapıda|teslimatta",
    "при\\s+(?:получени|доставк|отриманн)|курьеру|代引|到着時|货到|貨到|도착\\s*시|착불",
    "عند\\s+(?:ال)?(?:استلام|تسليم|توصيل)|نقد|במזומן|(?:בעת|עם)\\s+(?:ה)?(?:מסירה|קבלה|משלוח)|לשליח|در\\s+محل|هنگام\\s+تحویل|khi\\s+(?:nhận|giao)|ปลายทาง|डिलीवरी\\s+पर"
  ].join("|"),
  "iu"
)

const isLater = (numbered: string): boolean => {
  const text = numbered.replace(/^(?:\p{L}{3,10}\s)?\s*\d{1,2}\s*[.):–-]?\s*/u, "")
  const isOver = done.test(text) || saidMore.test(text) || isWayToPay(text) || whenReceived.test(text)
  return text.length <= 40 && payOrReview.test(text) && !isOver
}

type Steps = Pick<PageFacts, "steps">

/** Whether the page lists its steps, and one after the current one is where one pays or looks at the order once more. */
export const listsLaterStep = ({ steps }: Steps): boolean => {
  const at = steps.findIndex(({ isCurrent }) => isCurrent)
  return at >= 0 && steps.slice(at + 1).some(({ text }) => isLater(text))
}

/** Whether the step that a page is at is where one pays or looks at the order once more. */
export const isAtPayment = ({ steps }: Steps): boolean =>
  steps.some(({ isCurrent, text }) => isCurrent && isLater(text))

const stepAt = ({ steps }: Steps): number => steps.findIndex(({ isCurrent }) => isCurrent)

/** Whether a page is at a later one of the steps that it lists than before, with one to pay or to look at the order still to come. */
export const isStepFurther = (before: Steps, after: Steps): boolean =>
  stepAt(before) >= 0 && stepAt(after) > stepAt(before) && listsLaterStep(after)

const pathOf = (address: string): string => URL.parse(address)?.pathname ?? ""

/** A form with the page on which it stands, as a platform's own is known by them. */
type FormThere = (page: CheckoutPage, form: Pick<PageForm, "action" | "controls">) => boolean

/** Forms of platforms that are known to make a guest of the shopper and to lead to a step before the order. */
const platformForms: ReadonlyArray<{ readonly platform: string; readonly is: FormThere }> = [
  // The page to look at the order, /checkout/confirm, comes next.
  {
    platform: "shopware",
    is: (page, form) =>
      /\/checkout\/register\/?$/i.test(pathOf(page.url)) && /\/account\/register\/?$/i.test(pathOf(form.action))
  },
  // All steps go to the checkout's page, whose address is in the shop's language. Who leaves the password empty is a guest; where it must
  // not be empty, or no later step is listed, the form makes an account.
  {
    platform: "prestashop",
    is: (page, form) =>
      pathOf(page.url) === pathOf(form.action) &&
      form.controls.some(({ name, type, value }) => type === "hidden" && name === "submitCreate" && value === "1") &&
      !form.controls.some(({ required, type, value }) => type === "password" && (required || (value ?? "") !== "")) &&
      listsLaterStep(page)
  },
  // All is on one page, and this form opens the ways to ship; once one is chosen, those to pay are shown, and then the button that orders.
  {
    platform: "bagisto",
    is: (page, form) =>
      /\/checkout\/onepage\/?$/i.test(pathOf(page.url)) &&
      ["billing.first_name", "billing.address.[0]", "billing.use_for_shipping"].every((wanted) =>
        form.controls.some(({ name }) => name === wanted)
      )
  },
  // This form saves who buys, and nothing before its page's own buttons have opened the ways to ship and to pay is an order. It offers to
  // buy as a guest, and of whoever does not, it takes nothing without a password.
  {
    platform: "opencart",
    is: (page, form) => {
      const buttons = form.controls.filter(({ type }) => type === "submit" || type === "button" || type === "image")
      return (
        /[?&]route=checkout\/checkout(?:&|$)/.test(page.url) &&
        pathOf(page.url) === pathOf(form.action) &&
        buttons.length > 0 &&
        buttons.every(({ id }) => id === "button-register") &&
        form.controls.some(({ name, type, value }) => type === "radio" && name === "account" && value === "0")
      )
    }
  }
]

/** Whether a form is that of OpenCart's checkout that saves who buys. */
export const isOpenCartStep: FormThere = (page, form) => platformOf(page, form) === "opencart"

/** The known platform whose form leads to a step before the order; undefined for any other form. */
export const platformOf = (page: CheckoutPage, form: Pick<PageForm, "action" | "controls">): string | undefined =>
  platformForms.find(({ is }) => is(page, form))?.platform

/** Whether it is known that who leaves the password of this form empty becomes a guest, and gets no account. */
export const isGuestWithoutPassword = (page: CheckoutPage, form: Pick<PageForm, "action" | "controls">): boolean =>
  platformOf(page, form) === "prestashop"

/**
 * What shows that another step comes before any order when a form is sent or a button is pressed; undefined when nothing does, and then
 * it may be the order itself. "Continue to payment" alone does not: many shops book the order there and send the buyer to a bank.
 */
export const nextStepOf = (
  label: string,
  page: CheckoutPage,
  form?: Pick<PageForm, "action" | "controls">
): string | undefined => {
  if (namesShippingNext(label)) return "its button names shipping as the next step"
  if (namesReviewNext(label)) return "its button names a look at the order as the next step"
  if (listsLaterStep(page)) return "the page lists a later step before the order"
  const known = form && platformOf(page, form)
  return known && `${known} has a later step`
}

type Given = AutofillToken | "line1" | "phone" | "firstName" | "lastName" | "fullName"
const where: ReadonlySet<string> = new Set<Given>(["street-address", "address-line1", "tel", "line1", "phone"])
const who: ReadonlySet<string> = new Set<Given>([
  "email",
  "name",
  "given-name",
  "family-name",
  "firstName",
  "lastName",
  "fullName",
  // Shops that call their buyers back take an order by the number alone.
  "tel",
  "phone"
])

/** How goods come to their buyer. What is not sent by post needs no address to be ordered. */
export interface Fulfilment {
  readonly isShipped: boolean
}

const shipped: Fulfilment = { isShipped: true }

/**
 * Whether what a shop knows of a shopper is enough to take an order: who it is and where that is, or how to call. Of what comes by mail, or
 * is collected, who it is.
 */
export const isEnoughToOrder = (given: Iterable<string>, { isShipped }: Fulfilment = shipped): boolean => {
  const all = [...given]
  return (!isShipped || all.some((one) => where.has(one))) && all.some((one) => who.has(one))
}
