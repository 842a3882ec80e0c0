import { any } from "./WordPatterns.ts"

/**
 * What pages ask of their visitors besides buying: to reserve, to vote, to judge, to follow, to be told, to keep lists, to ask. One place
 * for forms, buttons and what stands beside the options of a product, in the languages of most shops.
 */

/** As forms and their buttons say it, in whole phrases: lists, carts that are kept or sent, questions. */
const phrases = any(
  "wish[-_ ]?list|\\bfavou?rites?\\b|save[-_ ]+(?:my|your|this|the)[-_ ]+(?:cart|bag|basket|order)|save[-_ ]?cart|(?:e-?mail|send|share)[-_ ]+(?:me|it|this|my|cart)\\b|notify\\s+me|back[-_ ]in[-_ ]stock|contact\\s+us|contact[-_ ]?form|call(?:s|ing)?[-_ ]+(?:you|me|us)[-_ ]+back|call[-_ ]?back|need\\s+help|ask\\s+(?:us|a\\s+question)|request\\s+a\\s+quote|write\\s+a\\s+review|track\\s+(?:my|your|an)\\s+order|order\\s+status|store[-_ ]?(?:locator|finder)|find\\s+a\\s+store|refer\\s+a\\s+friend|give[-_ ]?away|survey",
  "merkzettel|merkliste|wunsch(?:liste|zettel)|warenkorb\\s+(?:speichern|merken|senden)|benachrichtig|rückruf|kontakt(?:formular|ieren)|angebot\\s+anfordern|gewinnspiel|filialfinder|liste\\s+d['’]envies|prévenez|contactez|rappel(?:ez|er)|demander\\s+un\\s+devis|enregistrer\\s+(?:mon|le)\\s+panier|lista\\s+de\\s+de(?:seos|sejos)|avísame|contáct|ll[aá]mame|guardar\\s+(?:mi\\s+|el\\s+)?carrito|lista\\s+dei\\s+desideri|avvisami|contattaci|salva\\s+(?:il\\s+)?carrello|avise-?me|fale\\s+conosco",
  "verlanglijst|neem\\s+contact|terugbel|önskelista|ønskeliste|toivelista|lista\\s+życzeń|powiadom|skontaktuj|seznam\\s+přání|избранн|обратн\\p{L}*\\s+(?:связь|звонок)|перезвон|お気に入り|お問い合わせ|收藏|联系我们|위시리스트|문의"
)

/** Whether words ask something of a visitor that is no step of buying. */
export const asksVisitors = (words: string): boolean => phrases.test(words)

/** As names beside the options of a product say it, in stems: what is none of them is not chosen. None of it is an option. */
const stems = any(
  "reserv|\\bholds?\\b|^\\W*book\\b|\\bbook\\s+(?:now|it|this|an?|your|online|in)\\b|\\bbooking|\\bvot(?:e|es|ing)\\b|\\bpolls?\\b|survey|helpful|\\bfollow|notif|remind|\\balert|\\brat(?:e|ing)s?\\b|\\breviews?\\b|\\breport\\b|pick(?:ed)?[- ]?up|in[- ]?store|\\bjoin\\b|\\bquotes?\\b|\\bask\\b|questions?\\b|financ|trade[- ]?in|install(?:ation|ment)",
  "vormerk|zurücklegen|\\bbuch(?:en|ung)|abstimm|umfrage|hilfreich|(?<!\\p{L})folgen|aufrunden|benachrichtig|erinner|gutschein|bewert|rezension|gefällt|abhol|filial",
  "réserv|retrait|sondage|(?<!\\p{L})voter|utile|(?<!\\p{L})suivre|arrondi|inscri|avertir|prévenir|alerte|(?<!\\p{L})avis(?!\\p{L})|signaler|j['’]aime|magasin|devis",
  "apartar|(?<!\\p{L})votar|encuesta|útil|(?<!\\p{L})seguir|redonde|avís|opini|reseña|valora|me\\s+gusta|recog",
  "prenot|riserv|sondaggio|(?<!\\p{L})vota|(?<!\\p{L})segui(?!\\p{L})|arrotond|iscri|avvis|recension|mi\\s+piace|ritir|preventivo",
  "enquete|inquérito|arredond|inscre|subscre|avise|avalia|curtir|levantar",
  "(?<!\\p{L})stemmen|enquête|peiling|nuttig|behulpzaam|(?<!\\p{L})volgen|afrond|inschrij|aanmeld|waarschuw|beoordel|afhalen|ophalen|offerte",
  "(?<!\\p{L})(?:boka|rösta|omröstning|hjälpsam|följ|donera|skänk|avrunda|bevaka|påminn|dricks|betygsätt|gilla|hämta)",
  "(?<!\\p{L})(?:afstemning|avstemning|nyttig|hj[eæ]lpsom|følg|doner|afrund|avrund|tilmeld|varsle|påmind|drikkepenge|anmeld|vurder|hent)",
  "(?<!\\p{L})(?:varaa|äänestä|kysely|hyödylli|seuraa|lahjoit|pyöristä|tilaa|ilmoita|muistuta|juomaraha|arvostel|tykkä|nouda|takuu)",
  "rezerw|głosuj|ankiet|pomocn|przydatn|obserwuj|wesprzyj|zaokrągl|zapisz\\s+się|powiadom|przypomn|napiwek|oceń|odbi[oó]r",
  "rezerv|hlasov|anket|užitečn|sledovat|přisp[eě]|darovat|zaokrouhl|odebírat|upozorn|spropitn|hodnocen|recenz|vyzved",
  "ayırt|oyla|oy\\s+ver|yararlı|faydalı|takip|yuvarla|abone|haber\\s+ver|hatırlat|bahşiş|değerlendir|beğen|mağaza",
  "зарезерв|забронир|отлож|голос|опрос|полезн|подпис|округл|уведом|напомн|подар|чаев|оцен|отзыв|нравится|самовывоз",
  "予約|取り置き|投票|アンケート|参考になった|役に立|フォロー|募金|購読|通知|再入荷|贈り物|チップ|レビュー|評価|いいね|店舗|受け取り|保証",
  "预订|預訂|预约|預約|預留|有用|有帮助|有幫助|关注|關注|訂閱|提醒|禮品|礼物|禮物|小费|评价|評價|评论|点赞|门店|門市|自提|自取|保修|保險",
  "예약|투표|설문|도움|팔로우|알림|팁|리뷰|후기|평가|좋아요|매장|픽업|보증"
)

/** Whether a name beside the options of a product is of something that a page asks of its visitors. */
export const asksBesideOptions = (name: string): boolean => stems.test(name)

const atOnce = /\b(?:order|book|reserve)\s+(?:it\s+)?now\b|one[- ]?click|клик|jetzt|maintenant|ahora|agora|\bora\b/iu

/** Whether what a button reserves or orders, it does at once. */
export const actsAtOnce = (label: string): boolean => atOnce.test(label)

const subscription =
  /\bsubscribe(?:\s+(?:now|today|&|and|to\s+(?:this|save)).*)?$|^\W*(?:start|get|choose)\s+(?:my|your|a|the|this)?\s*subscription|(?:jetzt\s+|im\s+)abo(?:nnieren|\s+(?:bestellen|kaufen|starten))?\b|^\W*(?:je\s+)?m['’]abonne|s['’]abonner|suscribirme|suscr[ií]bete|^\W*abbonati\b|^\W*assinar\b|^\W*abonneren\b|^\W*prenumerera\b/iu

/** Whether what a button starts comes again and again. */
export const startsSubscription = (label: string): boolean => subscription.test(label)

const subscribersOnly =
  /\bonly\s+(?:be\s+)?(?:purchased|bought|sold|available|ordered)\s+(?:\S+\s+){1,3}(?:selling\s+plan|subscription)/iu

/** What a shop says to whoever would buy once what it sells by subscription alone. */
export const soldAsSubscription = (said: string): string | undefined => subscribersOnly.exec(said)?.[0]
