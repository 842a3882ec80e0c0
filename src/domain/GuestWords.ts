/** The ways past a login in the words of most shops: one place for texts, forms, buttons and links. */

/** What a button says that is pressed, or a link that is followed, to go on as a guest. Texts speak of guests in other ways as well. */
export const guestWay = new RegExp(
  [
    "\\bguest\\b|without\\s+(?:an?\\s+)?(?:account|regist|sign|log)",
    "als\\s+gast|gastbestell|ohne\\s+(?:registrier|anmeldung|(?:kunden)?konto)",
    "invité|sans\\s+(?:créer\\s+(?:de\\s+|un\\s+)?)?compte|sans\\s+inscription",
    "invitado|sin\\s+(?:cuenta|registr|crear)",
    "ospite|senza\\s+registra",
    "convidado|visitante|sem\\s+(?:cadastro|registo|conta)",
    "zonder\\s+(?:account|registratie|in\\s+te\\s+loggen)",
    "(?<!\\p{L})(?:gäst|gæst|gjest)(?!\\p{L})|(?:utan|uten|uden)\\s+(?:konto|registrering)",
    "vieraana|ilman\\s+(?:tiliä|rekisteröitymistä)",
    "(?<!\\p{L})gość(?!\\p{L})|jako\\s+host|bez\\s+(?:rejestracji|registrace|konta)|ako\\s+hosť|vendégként",
    "как\\s+гость|без\\s+регистрации|misafir",
    "ゲスト|(?:会員登録|ログイン)(?:せず|しない|なし)|游客|訪客|비회원"
  ].join("|"),
  "iu"
)

/** What a guest does afterwards: looks for an order, or gives it back. */
const afterwards =
  "track|(?:order|delivery)\\s+(?:status|history|look)|look\\s?up|find\\s[^]{0,20}?order|(?:orders?|sales)/guest|returns?(?!\\p{L})|verfolg|bestellstatus|retoure|suivre|suivi|retour|seguimiento|rastre|devoluci|devoluç|traccia|\\bresi\\b|volgen|spåra|spore|śledź|zwrot|sledov|отслед|возврат|追跡|返品|查询|查詢|追踪|조회"

/** What a button or a link says that goes on as a guest, and not to what a guest ordered before. */
export const guestLabel = new RegExp(`^(?![^]*(?:${afterwards}))[^]*?(?:${guestWay.source})`, "iu")

const after = new RegExp(afterwards, "iu")

/** Whether words, or an address, are of what a guest ordered before. */
export const isAfterwards = (said: string): boolean => after.test(said.slice(0, 500))

/** What an interface says that sells to nobody without an account, as Magento's: "Sorry, guest checkout is not available." */
export const refusesGuests =
  /\bguests?\s+(?:(?:check-?outs?|orders?|users?|customers?|carts?)\s+)?(?:(?:is|are)\s+(?:not\s+(?:available|allowed|permitted|enabled|supported)|disabled)|can(?:not|['’]t)\s+(?:check\s?out|order|buy|purchase))/i

const other = /als neukunde|gast(?:zugang|konto)|ohne anmeld/iu

/** Whether what a form or its button says may be of the way for guests. The widest: it only keeps a form from being taken for a login. */
export const isOfGuests = (words: string): boolean => {
  const read = words.slice(0, 1_000)
  return guestWay.test(read) || other.test(read)
}

const stated =
  /(?:check ?out|continue|order|buy|pay|proceed|shop) (?:as (?:a )?guest|without (?:an? )?(?:account|registering|registration|logging in|signing in))|guest (?:check ?out|order)|als (?:gast|neukunde)|gast(?:bestellung|zugang|konto)|ohne (?:registrierung|anmeldung|(?:kunden)?konto)|(?:en tant qu['’]|comme )invité|commande invité|sans (?:créer de compte|inscription|compte)|como invitado|sin (?:registrarse|registro|crear (?:una )?cuenta)|como (?:convidado|visitante)|sem (?:cadastro|registo)|come ospite|senza registra(?:zione|rsi)|als gast|zonder account|som gäst|utan (?:konto|registrering)|som gjest|som gæst|vieraana|jako gość|bez rejestracji|bez registrace|ako hosť|vendégként|как гость|без регистрации|misafir olarak|ゲスト(?:として|購入)|(?:会員登録|ログイン)(?:せず|しない|なし)|游客|訪客|비회원/giu

/** What makes of an order as a guest one that was made before. */
const sought = /(?:track|find|look\s?up|view|check|cancel|return)\s+(?:(?:an?|my|your|the)\s+)?$/i
const state = /^\s{0,2}(?:order\s+)?(?:status|track|look\s?up|history)/i

/**
 * What in a text says that one may buy without an account: whole phrases, as a text speaks of guests in passing as well, and also lets
 * them track their orders.
 */
export const guestPhraseIn = (text: string): string | undefined => {
  for (const { 0: said, index } of text.matchAll(stated)) {
    const end = index + said.length
    if (!sought.test(text.slice(Math.max(0, index - 20), index)) && !state.test(text.slice(end, end + 20))) return said
  }
  return undefined
}
