import { any } from "./WordPatterns.ts"

/** What controls are called that order or pay, in the languages of most shops: one list for forms that are sent and buttons that are pressed. */

/** Nothing of such a name is ever sent or pressed, whatever it was found for: rather a test that stops than an order. */
const ordering = any(
  "\\b(?:place|submit|complete|confirm|finish|finali[sz]e|send|review)\\b.*\\b(?:order|purchase|payment|transaction)\\b",
  "(?<!\\bpre[-\\s])\\border\\s+(?:now|with|and pay)\\b|\\b(?:order|buy)\\s+(?:as\\s+(?:an?\\s+)?guest|without)\\b|^\\W*(?:order|pay|purchase|confirm|complete|submit|donate|subscribe)\\W*$|\\b(?:complete|confirm|finish|finali[sz]e|submit|place)\\s+(?:(?:your|the|my)\\s+)?check\\s?out",
  "\\b(?:express|instant|one[-\\s]tap)\\s+check\\s?out|\\bcheck\\s?out\\s+(?:in|with)\\s+(?:one|1|a)\\s+(?:click|tap)|(?:并|並)(?:支付|付款)",
  "\\bpay(?!ment\\b|\\s?load)\\b|\\bpurchase\\b|\\bsubscribe\\b|\\bcheck\\s?out\\s+with\\b|\\bbuy\\s+with\\b",
  "\\b(?:book|reserve)\\s+(?:it\\s+|this\\s+)?now\\b|^\\W*(?:book|reserve|request\\s+(?:to\\s+)?book(?:ing)?)\\W*$|\\b(?:confirm|complete|finish)\\b.*\\b(?:booking|reservation)\\b",
  "one[- ]?click|(?:в|за) (?:1|один) клик",
  "pay\\s?pal|apple\\s?pay|google\\s?pay|\\bg\\s?pay|shop\\s?pay|amazon\\s?pay|klarna|afterpay|clearpay|\\baffirm\\b|venmo|bizum|\\btwint\\b|\\bswish\\b|\\bvipps\\b|mobilepay",
  "kostenpflichtig|zahlungspflichtig|(?:jetzt|verbindlich)\\s+(?:kaufen|bestellen|bezahlen|buchen|reservieren)|bestellung|(?<!vor)bestellen|bezahlen|kauf abschlie|^\\W*(?:buchen|reservieren)\\W*$",
  "(?<!pré)commander|\\bpayer\\b|(?:valider|passer|finaliser|confirmer) (?:la |ma |l['’]|et )?(?:commande|achat|réservation|payer)|acheter\\s+maintenant|^\\W*réserver\\W*$",
  "(?:realizar|hacer|enviar|completar) (?:el |la |o |a )?(?:pedido|compra)|finalizar|confirmar|\\bpagar\\b|comprar\\s+(?:ahora|ya|agora)|^\\W*reservar\\W*$",
  "(?:effettua|invia|conferma|completa|concludi)\\s+(?:l['’.]\\s?|il\\s+)?(?:ordine|acquisto|pagamento)|\\bpaga\\b|acquista\\s+(?:ora|subito)|^\\W*(?:ordina|prenota)\\W*$",
  "afrekenen|betaal|\\bbetalen\\b|bestelling|^\\W*(?:nu\\s+)?bestel(?:len)?\\b|\\bkopen\\b|^\\W*(?:boeken|reserveren)\\W*$",
  "(?<!\\p{L})(?:slutför|genomför|gennemfør|fullfør|bekräfta|bekræft|bekreft|beställ|bestil|bestill|betala|betal|boka|vahvista|tilaa|maksa|varaa)(?!\\p{L})|lägg\\s+(?:beställning|order)|afgiv\\s+(?:ordre|bestilling)|legg\\s+inn\\s+(?:ordre|bestilling)|(?:lähetä|tee)\\s+tilau",
  "zamawiam|zamów|zamówieni[ea]|zapłać|kupuj|objednat|zaplatit|odeslat\\s+objednávku|rezerwuj|rezervovat|megrendel",
  "sipariş|satın\\s+al|hemen\\s+al|(?<!\\p{L})öde(?!\\p{L})|alışverişi\\s+(?:tamamla|bitir)",
  "заказать|оплатить|забронировать|(?:оформить|подтвердить|отправить|завершить)\\s+(?:заказ|покупку)",
  "замовити|(?:о|с)платити|(?:оформити|підтвердити|надіслати|відправити|завершити)\\s+(?:замовлення|покупку)",
  "注文(?:を確定|する|確定)|(?:注文|購入)(?:手続き?)?を?完了|購入(?:する|手続)|支払|予約する",
  "购买并支付|提交订单|提交訂單|立即(?:支付|付款|下单)|去支付|确认(?:订单|支付)|付款",
  "결제|주문|예약하기",
  "(?:تأكيد|تاكيد|أكد|إرسال|ارسال|إتمام|اتمام|إنهاء|تقديم|إكمال|اكمال)\\s+(?:عملية\\s+)?(?:ال)?(?:طلب|شراء|دفع|حجز)|(?:اطلب|ادفع|اشتر(?:ي)?|احجز)(?:\\s+الآن)?(?!\\p{L})|ثبت\\s+(?:نهایی\\s+)?سفارش|پرداخت|خرید\\s+نهایی|تکمیل\\s+(?:فر[اآ]یند\\s+)?(?:خرید|سفارش)|نهایی\\s+کردن",
  "(?:בצע|ביצוע|אישור|אשר|שלח|סיום|השלמת)\\s+(?:ה)?(?:הזמנה|רכישה|קנייה|תשלום)|(?<!\\p{L})(?:הזמן|שלם|קנה)(?:\\s+עכשיו)?(?!\\p{L})|לתשלום",
  "đặt\\s+(?:hàng|mua|chỗ|lịch)|mua\\s+ngay|thanh\\s+toán|xác\\s+nhận\\s+(?:đơn|mua|đặt|thanh)|hoàn\\s+tất\\s+(?:đơn|đặt|mua)|(?:สั่งซื้อ|ชำระ|จอง|ยืนยัน(?:การ)?(?:สั่ง|คำสั่ง|ชำระ))|ऑर्डर|भुगतान\\s+करें|अभी\\s+खरीदें"
)

/** Words by which some shops buy at once and others fill a cart: only the address tells which. */
const buying = any(
  "\\bbuy\\s+(?:it\\s+)?now\\b|^\\W*buy\\b|^\\W*pre[-\\s]?order\\b",
  "^\\W*kaufen\\b|vorbestellen|précommander|^\\W*acheter\\b|^\\W*comprar\\b|^\\W*acquista\\b|^\\W*koop\\b",
  "^\\W*(?:köp|køb|kjøp)(?:\\s+(?:nu|nå))?\\W*$|^\\W*osta(?:\\s+nyt)?\\W*$",
  "^\\W*kup(?:\\s+teraz)?\\W*$|^\\W*koupit\\b|^\\W*купить|^\\W*купити",
  "今すぐ(?:買う|購入)|立即(?:购买|購買)|구매하기|바로\\s?구매"
)

/** Whether a control of this name buys at once, unless its address is known to fill a cart. */
export const buysAtOnce = (label: string): boolean => buying.test(label)

/** Whether a control of this name orders or pays wherever it leads. */
export const alwaysOrders = (label: string): boolean => ordering.test(label)

/** Whether a control of this name may order or pay. */
export const mayOrder = (label: string): boolean => alwaysOrders(label) || buysAtOnce(label)

/** What a way on may not lead to. A button that adds to the cart may say most of it. */
const orderingOn =
  /\b(?:orders?|purchase|buy|place|confirm|complete|submit)\b|bestell|kauf|abschlie(?:ß|ss)|abschluss|pedido|compra|finaliz|commande|acheter|achat|passer|(?<!\p{L})ordin[eai]|acquist|bestel|kopen|köp|køb|kjøp|zam[oó]w|(?<!\p{L})kup|koup|(?<!\p{L})osta(?!\p{L})|tilaa|tilau|objedn|заказ|оформ|купить|注文|購入|订单|訂單|购买|購買|下单|下單|구매|sipariş|satın|rendel|замовл|купити|طلب|شراء|سفارش|خرید|הזמנה|רכישה|קני?יה|(?<!\p{L})(?:đặt|mua)(?!\p{L})|đơn\s+hàng|ซื้อ|खरीद|ऑर्डर/iu

/** Whether a button that should only go on has anything to do with orders. */
export const leadsToOrder = (label: string): boolean => orderingOn.test(label)
