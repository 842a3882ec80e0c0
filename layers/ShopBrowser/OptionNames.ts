import { isExtra } from "#domain/AsideWords.ts"

/** What tells an option of a product from what else stands beside it, in the languages we read. */

const any = (...patterns: ReadonlyArray<string>) => new RegExp(patterns.join("|"), "iu")

/** What a page asks of its visitors besides buying: to reserve, to vote, to judge, to follow, to be told. None of it is an option. */
const asides = any(
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

/** What shops call the choices of a product. */
const called = any(
  "(?<!\\p{L})(?:sizes?|colou?rs?|materials?|styles?|fit|lengths?|widths?|heights?|flavou?rs?|scents?|fragrance|finish|patterns?|models?|capacity|storage|memory|volume|weight|pack|shades?|formats?|editions?|types?|variants?|options?)(?!\\p{L})",
  "größe|groesse|farbe|länge|breite|geschmack|duft|ausführung|muster|modell|kapazität|inhalt|gewicht|variante|sorte|stärke",
  "taille|couleur|coloris|matière|longueur|largeur|saveur|goût|parfum|finition|motif|modèle|capacité|contenance|poids|pointure",
  "talla|tamaño|(?<!\\p{L})color|material|(?<!\\p{L})(?:largo|ancho)|sabor|acabado|modelo|capacidad|tamanho|(?<!\\p{L})cor(?:es)?(?!\\p{L})|comprimento|largura|opç|opci",
  "taglia|misura|colore|lunghezza|larghezza|gusto|profumo|finitura|modello|formato",
  "(?<!\\p{L})maat|kleur|materiaal|lengte|breedte|smaak|geur|uitvoering|inhoud|formaat",
  "storlek|färg|längd|bredd|(?<!\\p{L})smak|doft|utförande|størrelse|farve|farge|længde|lengde|(?<!\\p{L})smag",
  "(?<!\\p{L})koko|väri|materiaali|pituus|leveys|(?<!\\p{L})maku|tuoksu|malli|vaihtoehto",
  "rozmiar|kolor|materiał|długość|szerokość|zapach|wariant|pojemność",
  "velikost|barva|materiál|délka|šířka|příchuť|vůně|provedení|objem",
  "beden|renk|malzeme|uzunluk|genişlik|varyant|numara|kapasite|ölçü",
  "размер|цвет|материал|длина|ширина|вкус|аромат|модель|вариант|объ[её]м",
  "サイズ|カラー|色|素材|長さ|種類|タイプ|モデル|容量",
  "尺码|尺寸|颜色|顏色|材质|材質|口味|款式|型号|规格|規格",
  "사이즈|크기|색상|컬러|소재|길이|옵션|모델|용량"
)

/** What shops call them in their source. */
const marked = /(?<![a-z])(?:swatch|variant|variation|option|attribute|size|colou?r)(?:e?s)?(?![a-z])/i

const apart = (names: string): string => names.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ")

/** Whether a name, in words or in source, is one of something besides the product: asked of a visitor, or sold with it. */
export const isAside = (name: string): boolean => {
  const words = apart(name)
  return asides.test(name) || asides.test(words) || isExtra(words)
}

/** Whether what is said of a group of options calls it a choice of a product. */
export const callsChoice = (said: string): boolean => called.test(said)

/** Whether what a group of options is called in the page's source says the same. */
export const marksChoice = (source: string): boolean => marked.test(apart(source))
