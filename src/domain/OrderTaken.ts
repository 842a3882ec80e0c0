/** How pages say that they took an order, in the languages of most shops. */

const any = (...patterns: ReadonlyArray<string>) => new RegExp(patterns.join("|"), "giu")
const of = "(?:order|purchase|booking|reservation)"
const taken = "(?:placed|received|confirmed|completed?|accepted|created|submitted|reserved|booked|registered)"

/** Whole sentences: wherever they stand, an order was taken. */
const sentences = any(
  `\\bthank(?:s| you)(?: (?:very|so) much)? for (?:your|the|this|placing (?:your|an|the))(?: recent| online)? ${of}`,
  `\\b(?:your|the) ${of}(?:\\s+(?:no\\.?|number|#)?\\s*[\\w#-]*\\d[\\w-]*)? (?:has been|have been|was|is|is now)(?: successfully| now)? ${taken}`,
  `\\bwe(?: have|['’]ve)?(?: successfully)? (?:received|accepted|confirmed|booked|reserved) your ${of}`,
  `\\b${of} ${taken} successfully|\\b${of} (?:was |has been )?(?:created|placed|received), `,
  "\\byou(?:['’]re| are) (?:all )?booked\\b",
  "dank\\s+für\\s+(?:ihre[n]?|deine[n]?|eure[n]?|die|den)\\s+(?:bestellung|buchung|reservierung|einkauf|auftrag)",
  "(?:ihre|deine|die)\\s+(?:bestellung|buchung|reservierung)[^.!?]{0,40}\\b(?:wurde|ist)\\s+(?:(?!nicht|noch|erst)\\p{L}+\\s+){0,3}(?:aufgegeben|eingegangen|bestätigt|erhalten|angenommen|abgeschlossen|entgegengenommen|gespeichert)",
  "haben\\s+(?:ihre|deine)\\s+(?:bestellung|buchung|reservierung)\\s+(?:\\p{L}+\\s+)?(?:erhalten|angenommen|entgegen)",
  "merci\\s+(?:pour|de)\\s+(?:votre|ta)\\s+(?:commande|achat|réservation)",
  "votre\\s+(?:commande|réservation)[^.!?]{0,40}\\b(?:a\\s+(?:bien\\s+)?été|est)\\s+(?:bien\\s+)?(?:enregistrée|confirmée|reçue|validée|prise\\s+en\\s+compte)",
  "gracias\\s+por\\s+(?:su|tu|la|el)\\s+(?:pedido|compra|reserva|orden)",
  "(?:su|tu|el|la)\\s+(?:pedido|reserva|compra)[^.!?]{0,40}(?:ha\\s+sido|está|fue|se\\s+ha)\\s+(?:realizad|confirmad|recibid|registrad|completad)[oa]|hemos\\s+recibido\\s+(?:su|tu)\\s+(?:pedido|reserva)",
  "grazie\\s+per\\s+(?:il\\s+(?:tuo|suo|vostro)\\s+|la\\s+(?:tua|sua)\\s+|l['’]\\s?)(?:ordine|acquisto|prenotazione)",
  "(?:il\\s+(?:tuo|suo)\\s+|l['’])ordine[^.!?]{0,40}(?<!\\p{L})è\\s+(?:stato\\s+)?(?:ricevuto|confermato|registrato|inviato|completato)",
  "obrigad[oa]\\s+(?:pel[oa]|por)\\s+(?:seu\\s+|sua\\s+|tua\\s+|a\\s+sua\\s+|o\\s+seu\\s+)?(?:pedido|compra|encomenda|reserva)",
  "(?:seu|sua)\\s+(?:pedido|compra|encomenda|reserva)[^.!?]{0,40}\\b(?:foi|está)\\s+(?:realizad|confirmad|recebid|registrad|registad|concluíd)",
  "bedankt\\s+voor\\s+(?:je|uw|jouw)\\s+(?:bestelling|aankoop|reservering|boeking)|(?:je|uw)\\s+(?:bestelling|reservering|boeking)[^.!?]{0,40}\\b(?:is|werd)\\s+(?:\\p{L}+\\s+){0,2}(?:geplaatst|ontvangen|bevestigd)",
  "tack\\s+för\\s+(?:din|er|ditt)\\s+(?:beställning|order|köp|bokning)|din\\s+(?:beställning|order|bokning)[^.!?]{0,30}(?:mottagen|bekräftad|lagd)",
  "takk?\\s+for\\s+(?:din|dit|ditt)\\s+(?:ordre|bestilling|køb|kjøp|reservation|reservasjon|booking)|takk\\s+for\\s+(?:bestillingen|handelen|kjøpet)",
  "kiitos\\s+(?:tilauksest|ostoksest|varauksest)|tilauksesi[^.!?]{0,30}(?:vastaanotettu|vahvistettu)",
  "dziękujemy\\s+za\\s+(?:złożenie\\s+)?(?:zamówieni|zakup|rezerwacj)|zamówienie[^.!?]{0,30}zostało\\s+(?:złożone|przyjęte|potwierdzone)",
  "děkujeme\\s+za\\s+(?:vaši\\s+|tvou\\s+)?(?:objednávku|nákup|rezervaci)|objednávka[^.!?]{0,30}(?:byla|je)\\s+(?:přijata|odeslána|potvrzena)",
  "(?:siparişiniz|siparişin|rezervasyonunuz)[^.!?]{0,20}(?:teşekkür|alındı|oluşturuldu|onaylandı|tamamlandı)",
  "(?:спасибо|благодарим)[^.!?]{0,12}\\s+за\\s+(?:ваш\\s+)?(?:заказ|покупк|бронировани)|заказ[^.!?]{0,30}(?:принят|оформлен|подтвержд[её]н|создан)(?!\\p{L})",
  "дяку(?:ємо|ю)[^.!?]{0,12}\\s+за\\s+(?:ваше\\s+)?(?:замовлення|покупк)|замовлення[^.!?]{0,30}(?:прийнято|оформлено|підтверджено)(?!\\p{L})",
  "köszönjük\\s+a\\s+(?:rendelés|vásárlás|megrendelés|foglalás)|rendelés[^.!?]{0,30}(?:rögzítettük|megkaptuk|beérkezett|sikeres)",
  "ďakujeme\\s+za\\s+(?:vašu\\s+|tvoju\\s+)?(?:objednávku|nákup)|mulțumim\\s+pentru\\s+(?:comandă|comanda|cumpărăt)|hvala\\s+(?:vam\\s+)?(?:na|za)\\s+(?:vašoj\\s+|vaše\\s+)?(?:narudžb|kupnj|naročil|nakup)",
  "ευχαριστούμε\\s+για\\s+την\\s+(?:παραγγελία|αγορά)|شكرا\\p{M}?\\s+(?:لك\\s+)?(?:على\\s+|ل)(?:طلبك|شرائك)|תודה\\s+על\\s+(?:ההזמנה|הזמנתך|הרכישה|הקנייה)",
  "cảm\\s+ơn[^.!?]{0,20}\\s+đã\\s+(?:đặt\\s+hàng|mua)|đặt\\s+hàng\\s+thành\\s+công|terima\\s+kasih\\s+(?:atas|telah)\\s+(?:pesanan|pembelian|memesan|berbelanja)|ขอบคุณสำหรับการ(?:สั่งซื้อ|สั่ง)",
  "ご?注文[^。]{0,12}(?:ありがとう|承り|受け付け|受付(?:け)?(?:まし|いたし)|完了(?:し|いた)|確定しました)|ご予約[^。]{0,12}(?:ありがとう|完了(?:し|いた)|承り|確定しました)|お買い上げ[^。]{0,8}ありがとう",
  "(?:感谢|感謝|谢谢|謝謝)[^。]{0,6}(?:订购|訂購|购买|購買|订单|訂單|预订|預訂|惠顾|惠顧)|(?:订单|訂單|预订|預訂)(?:已)?(?:提交成功|已提交|创建成功|已确认|已確認|已生成)|下单成功|下單成功",
  "(?:주문|예약)(?:이|가)?\\s*(?:정상적으로\\s*)?(?:완료|접수|확정)(?:되었|됐)|(?:주문|구매|예약)해\\s*주셔서\\s*감사"
)

/** Words that shops also say in passing: they tell of an order only on a page that leads nowhere else. */
const words = any(
  "\\bthank(?:s|\\s?you)\\b",
  `\\b${of} (?:successfully )?${taken}\\b|\\b(?:pedido|compra|orden|encomenda)\\s+(?:realizad|confirmad|recibid|recebid|completad)[oa]\\b|\\bcommande\\s+(?:confirmée|enregistrée|validée)|\\bordine\\s+(?:confermato|ricevuto|completato)|\\bbestellung\\s+(?:bestätigt|erhalten|abgeschlossen)`,
  "(?<!\\p{L})(?:danke|dankeschön|vielen\\s+dank|merci|gracias|grazie|obrigad[oa]|bedankt|dank\\s+u|tack|takk?|kiitos|dziękujemy|dziękuję|děkujeme|teşekkür(?:ler)?|спасибо|благодарим)(?!\\p{L})",
  "ありがとう|谢谢|謝謝|感谢|感謝|감사합니다",
  "\\b(?:order|booking|reservation|confirmation)\\s*(?:no\\b\\.?|number|nr\\b\\.?|id|#|reference|code)\\s*(?:is\\s*)?[:#]?\\s*[\\p{L}-]{0,6}\\d",
  "(?:bestell|buchungs|reservierungs|auftrags)(?:ung)?(?:nummer|-?nr\\b\\.?)\\s*(?:lautet\\s*)?:?\\s*[\\p{L}-]{0,6}\\d",
  "(?:num[eé]ro|número|n[°º.]|nº|référence|referencia)\\s*(?:de\\s+(?:la\\s+|su\\s+|tu\\s+)?|d[’']|dell[’']|di\\s+)?(?:commande|réservation|pedido|reserva|compra|ordine|prenotazione|encomenda)\\D{0,6}\\d",
  "(?:bestelnummer|ordernummer|ordrenummer|bestillingsnummer|tilausnumero|bokningsnummer|numer\\s+zamówienia|číslo\\s+objednávky|sipariş\\s+(?:no|numaranız)|номер\\s+(?:вашего\\s+)?заказа)\\D{0,8}\\d",
  "(?:注文番号|予約番号|订单号|訂單編號|订单编号|주문\\s?번호|예약\\s?번호)\\D{0,6}[\\p{L}-]{0,6}\\d",
  "(?<!rights\\s)\\b(?:booked|reserved)\\b(?!\\s+for\\s+(?:\\d|the\\s+next))",
  "(?<!\\p{L})(?:reserviert|gebucht|réservée?|reservad[oa]|prenotat[oa]|gereserveerd|geboekt|bokad|reserverad|reserveret|reservert|varattu|zarezerwowan[oeay]|rezervován[oa]|забронирован[оа]?)(?!\\p{L})|rezerve\\s+edildi|予約(?:済|完了)|已预订|已預訂|예약되었"
)

/** "We write to you once your order is confirmed" confirms nothing. */
const condition =
  /(?<!\p{L})(?:once|when|after|until|before|if|unless|that|sobald|wenn|nachdem|bis|que|lorsque|quand|si|cuando|quando|che|se|zodra|als|wanneer|nadat|när|når|kun|gdy|kiedy|jakmile|až|когда|если|как только|после того как)\s+$/iu

/** The first match of the second text that the first does not have. */
const newIn = (pattern: RegExp, before: string, after: string): RegExpExecArray | undefined => {
  const known = before.replace(/\s+/g, " ").toLowerCase()
  for (const match of after.matchAll(pattern)) {
    const isCondition = condition.test(after.slice(Math.max(0, match.index - 30), match.index))
    if (!isCondition && !known.includes(match[0].toLowerCase())) return match
  }
  return undefined
}

const reference =
  /(?:no\b\.?|nr\b\.?|number|nummer|#|№|号|編號|번호)?\s*[:#]?\s*(\p{Lu}{0,5}[-#]?\d[\dA-Z-]{1,20})(?![\d.,]*\s*[€$£])/u

/** What a page says that took an order. */
export interface OrderTaken {
  /** Its words, and some of what follows them. */
  readonly said: string
  /** By what the shop calls the order, where it says it beside. */
  readonly reference: string | undefined
}

/**
 * Whether a page that came after something was sent says that an order, a booking or a reservation was taken, which the page before
 * did not. `leadsOn`: it asks for more, so that mere thanks mean nothing.
 */
export const orderTaken = (
  before: string,
  after: string,
  { leadsOn }: { readonly leadsOn: boolean }
): OrderTaken | undefined => {
  const text = after.slice(0, 20_000).replace(/\s+/g, " ")
  const found = newIn(sentences, before, text) ?? (leadsOn ? undefined : newIn(words, before, text))
  if (found === undefined) return undefined
  const beside = text.slice(Math.max(0, found.index - 20), found.index + 260)
  return { said: text.slice(found.index, found.index + 200).trim(), reference: reference.exec(beside)?.[1] }
}
