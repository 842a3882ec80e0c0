import { asksVisitors } from "./VisitorWords.ts"
import { any } from "./WordPatterns.ts"

/**
 * What shops ask for beside a purchase, in the languages of most shops: one list for forms that are sent, boxes that are ticked, lists that
 * are chosen from and buttons that are pressed.
 */

/** Letters by mail or telephone. */
const letters = any(
  "news[-_ ]?letters?|mailing[-_ ]?list|\\bsubscribe|subscriber|\\bsign\\s+me\\s+up\\b|stay\\s+in\\s+(?:touch|the\\s+loop)|join\\s+(?:our|the|us)\\b|\\d\\s?%\\s+(?:off|discount|rabatt|de\\s+(?:réduction|descuento|desconto)|di\\s+sconto|korting)|(?:get|unlock|claim)\\s+(?:your\\s+)?(?:\\W?\\d|discount|code)",
  "abonnier|rabatt\\s+sichern|s['’]abonner|abonnez|s['’]inscrire|inscrivez|lettre\\s+d['’]info|suscr[ií]b|boletín|iscriviti|iscrizione\\s+alla|subscrev|assine\\b|inscreva",
  "nieuwsbrief|abonneer|inschrijv|nyhe(?:ts|ds)brev|prenumerera|tilmeld|uutiskirje|biuletyn|subskryb|zapisz\\s+się|odběr\\s|odebírat|hírlevél|feliratkoz",
  "bülten|(?<!\\p{L})abone|рассылк|подпис(?:ать|ка|ывай)|розсилк|підпис|メルマガ|ニュースレター|購読|订阅|訂閱|电子报|電子報|뉴스레터|구독"
)

/** Accounts, and ways into them. */
const accounts = any(
  "\\blog[-_ ]?in\\b|\\bsign[-_ ]?(?:in|up)\\b|\\bregist(?:er|ration)\\b|(?:create|open|make|new)[-_ ]+(?:(?:an?|your|my)[-_ ]+)?account|create[-_]?account|pass(?:word)?[-_ ]?less|magic[-_ ]?link|one[-_ ]?time[-_ ]?(?:code|pass)|\\botp\\b|verification\\s+code|(?:email|send)\\s+me\\s+a\\s+(?:code|link)",
  "anmelde[nr]?\\b|einlogg|registrier|konto\\s+(?:anlegen|erstellen|eröffnen)|se\\s+connecter|connectez|connexion|créer\\s+(?:un|mon|votre|ton)\\s+compte|identifie[rz]|inicia[r]?\\s+sesi[oó]n|cre(?:ar|a)\\s+(?:una\\s+|mi\\s+|tu\\s+)?cuenta|reg[ií]strate|registrarse|accedi\\b|registrati|crea\\s+(?:un\\s+)?account",
  "iniciar\\s+sessão|criar\\s+(?:uma\\s+)?conta|cadastr|inloggen|account\\s+aanmaken|registreren|logga\\s+in|skapa\\s+konto|registrera|log\\s+ind|logg\\s+inn|opret\\s+(?:en\\s+)?konto|opprett\\s+konto|kirjaudu|rekisteröi|luo\\s+tili|zaloguj|zarejestruj|(?:załóż|utwórz)\\s+konto|přihlásit\\s+se|registrovat|vytvořit\\s+účet|bejelentkez|regisztr",
  "giriş\\s+yap|üye\\s+ol|kayıt\\s+ol|hesap\\s+oluştur|войти|регистр|создать\\s+аккаунт|увійти|зареєстр|ログイン|会員登録|新規登録|登录|登錄|登入|注册|註冊|로그인|회원가입"
)

/** Whether words are those of a form or a button that is no step of buying: letters, accounts, lists, questions. */
export const isAside = (words: string): boolean => {
  const said = words.slice(0, 1_000)
  return letters.test(said) || accounts.test(said) || asksVisitors(said)
}

/** Whether words are those of letters by mail. They stand on most pages and say nothing of a checkout. */
export const isOfLetters = (words: string): boolean => letters.test(words.slice(0, 1_000))

/** Whether words are those of an account, or of a way into one. */
export const isOfAccounts = (words: string): boolean => accounts.test(words.slice(0, 1_000))

const asidePath =
  /news-?letter|subscri|mailing-?list|(?:^|\/)(?:log-?in|sign-?in|sign-?up|signup|register|registration|registrieren|anmelde[nr]?|anmeldung|connexion|inscription|registro|accedi|inloggen|registrazione|rejestracja|logowanie|auth|oauth2?|otp|sso)(?:[/.]|$)|passwordless|magic-?link|create-?account|(?:accounts?|customers?|users?|members?|konto|compte|cuenta)\/(?:create|new|add|log-?in|sign-?in|register|signup|sign-?up)|\/(?:accounts?|my-account)\/?$|wish-?list|favou?rites?(?:[/.]|$)|e?-?mail-?(?:me|cart|a-friend)|(?:save|share|send)-?(?:my-?)?cart|(?:^|\/)(?:contact|contact-?us|kontakt|contacto|contatt[io]|callback|call-?back|notify|notify-?me|survey|reviews?|quote|store-?locator)(?:[/.]|$)|back-?in-?stock/i

/** Whether something that is sent to an address is no step of buying, by the address alone. */
export const isAsideAddress = (url: URL): boolean => {
  const said = `${url.pathname} ${[...url.searchParams.values()].join(" /")}`.replace(/_/g, "-")
  return asidePath.test(said.slice(0, 1_000)) && !/guest|gast(?!ro)|invit[eé]|ospite|convidado/i.test(said)
}

/** What is added to a purchase, or agreed to beside it, if nobody says no. */
const extras = any(
  "news|subscri|marketing|\\bopt[-_ ]?in\\b|optin|promo(?:tion)|\\b(?:special|exclusive)\\s+offers\\b|\\boffers\\b|\\bsms\\b|text\\s+me|\\bupdates\\b|keep\\s+me|e-?mail\\s+me|\\baccounts?\\b|create[-_ ]?account|createaccount|sign[-_ ]?up|regist(?:er|ration)|remember[-_ ]?me|save\\s+(?:my|this|the)\\s+(?:info|details|data|address|card)|loyalty|membership|\\btrial\\b",
  "donat|charit|round[-_ ]?up|carbon|climate|\\btips?\\b|gratuity|insur|warrant|(?<!data[-_ ])protection|\\bgift|gift[-_ ]?wrap|selling[-_ ]?plan|auto[-_ ]?(?:ship|renew|deliver|replenish|refill)|recurring|bought\\s+together|\\bbundle|add[-_ ]?ons?\\b|up[-_ ]?sell|priority\\s+(?:processing|handling)|extended\\s+guarantee",
  "werbung|angebote|rabattaktion|kundenkonto|\\bkonto\\b|registrier|spende|trinkgeld|versicher|garantie|schutzbrief|geschenk|\\babo(?:nn\\p{L}*)?\\b",
  "lettre\\s+d['’]info|\\boffres\\b|\\bcompte\\b|(?<!\\p{L})dons?(?![\\p{L}'’])|pourboire|assurance|cadeau|abonnement",
  "boletín|ofertas|novedades|publicidad|\\bcuenta\\b|donaci[oó]n|propina|seguro\\s+de|\\bseguro\\b|garant[ií]a|regalo|suscri",
  "offerte|novità|promozion|donazion|mancia|assicurazion|garanzia|abbonament|novidades|promoç|\\bconta\\b|doaç|gorjeta|presente\\b|assinatura",
  "nieuwsbrief|aanbieding|doneer|donatie|fooi|verzeker|nyhe(?:ts|ds)brev|erbjudand|\\btilbud\\b|tarjouks|uutiskirje|försäkring|forsikring|vakuutus|gåva|\\bgave\\b|lahja|prenumeration",
  "promocj|oferty|ubezpiecz|darowizn|prezent|gwarancj|nabídk|pojišt|dárek|záruk|hírlevél|kampanya|bülten|sigorta|bağış|hediye|рассылк|акци(?:и|ях)|новост|страхов|гаранти|пожертв|подар(?:ок|оч)|подписк",
  "お知らせ|キャンペーン|メルマガ|会員登録|定期|保険|寄付|ギフト|ラッピング|优惠|促销|订阅|保险|捐|礼品|할인|마케팅|수신|보험|기부|선물|구독"
)

/** Whether words are those of something that is bought, given or agreed to beside the purchase: letters, accounts, gifts, insurance, subscriptions. */
export const isExtra = (words: string): boolean => extras.test(words.slice(0, 1_000).replace(/[_-]/g, " "))

const nothing = any(
  "^\\W*(?:0+(?:[.,]0+)?|no|none|non|nein|keine?[rsnm]?|ohne|aucune?|sans|ning[uú]n[oa]?|sin|nessun[oa]?|senza|nenhuma?|não|sem|nee|geen|zonder|nej|nei|inge[nt]|utan|uten|uden|ei|ilman|nie|brak|bez|ne|žádn\\p{L}*|nem|hayır|yok|нет|без|ні|false|off|never|n/?a|default)(?!\\p{L})",
  "\\bno,?\\s+thanks?\\b|one[-_ ]?(?:time|off)|once\\b|single\\s+purchase|without\\b|\\bguest\\b|\\bgast\\b|einmal|achat\\s+unique|compra\\s+única|acquisto\\s+singolo|eenmalig|engång|jednorazow|jednorázov|разов|不要|いいえ|なし|いらない|无|無|不需要|한\\s?번|없음|아니"
)
const free = /\bfree\b|gratis|gratuit|kostenlos|ilmainen|zdarma|бесплатн|無料|免费|무료/iu

/** Whether words say that nothing is taken, or nothing that costs. */
export const saysNothing = (text: string): boolean => nothing.test(text.slice(0, 300)) || free.test(text.slice(0, 300))

/** Whether a choice takes nothing: by what it says, or by what it sends. */
export const isNothing = ({ text, value }: { readonly text: string; readonly value: string }): boolean =>
  value.trim() === "" || nothing.test(value.slice(0, 300)) || saysNothing(text)
