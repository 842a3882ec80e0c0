import type { PageFacts } from "./page/PageFacts.ts"
import { any } from "./WordPatterns.ts"

/** How the ways through a shop are called in the words of most shops: one place for what forms and what a browser goes by. */

/** Addresses of carts. */
const cartPath =
  /\/(?:(?:shopping[-_]?|view[-_]?)?(?:cart|basket|bag)|warenkorb|einkaufswagen|panier|carrito|cesta|carrello|carrinho|sacola|winkelwagen|winkelmand(?:je)?|varukorg|kundvagn|kurv|indkoebskurv|handlekurv|ostoskori|koszyk|ko[sš][ií]k|sepet(?:im)?|korzina|корзина)(?:\.\w{2,5})?\/?$/iu

/** Shops of one script name the page in its query, as in `index.php?main_page=shopping_cart`. */
const namedCart = /[?&](?:route|rt|main_page|_a|controller)=(?:checkout\/)?(?:shopping_?)?(?:cart|basket)(?:&|$)/i
const namedCheckout =
  /[?&](?:route|rt|main_page|_a)=(?:(?:checkout[/_])?(?:fast_|one_page_)?checkout|checkout[/_](?:shipping|one))(?:&|$)|\/checkout_shipping\.php(?:\?|$)/i

/** What an address of a cart does to it, by its query: some scripts add, remove and empty where they show. */
const changes =
  /[?&](?:(?:add(?:to[a-z]{1,20})?|remove|delete|clear|empty|update)(?![a-z])|(?:action|do|act|cmd|func|task)=[\w-]{0,40}?(?:add|buy|remov|delet|clear|empt|updat))/i

/**
 * Whether an address, with its path decoded, is one of a cart's page: by its path, or by the page that its query names. One that
 * changes the cart when it is opened is none.
 */
export const isCart = ({ pathname, search }: Pick<URL, "pathname" | "search">): boolean =>
  (cartPath.test(pathname) || namedCart.test(search)) && !changes.test(search)

/** Whether an address names a checkout as such shops do, in its query, or by a script of its own. */
export const namesCheckout = ({ pathname, search }: Pick<URL, "pathname" | "search">): boolean =>
  namedCheckout.test(pathname + search) && !changes.test(search)

/** Whether a link leads to a checkout that ships to several addresses, as Magento offers beside its own to those with an account. */
export const shipsToMany = (text: string, { pathname }: Pick<URL, "pathname">): boolean =>
  /\/multi-?(?:shipping|address)/i.test(pathname) || /\b(?:multiple|several)\s+addresses\b/i.test(text)

/** What leads from a cart to the checkout, in languages in which that has words of its own. Alone some are said of ways to pay as well. */
export const toCheckout = [
  "(?:do\\s+)?(?:realizacji|finalizacji)\\s+zamówieni|(?:pokračovat|přejít)\\s+(?:v|k)\\s+objednáv|k\\s+pokladni|pokračovať\\s+v\\s+objednáv",
  "(?:tovább\\s+)?a\\s+pénztár|ödeme(?:ye|\\s+adımına)\\s+(?:geç|ilerle)|alışverişi\\s+tamamla",
  "оформ(?:ить|ление|лення)\\s+(?:заказа?|замовлення)|оформити\\s+замовлення",
  "購入手続き|注文手続き|^\\P{L}*주문하기\\P{L}*$",
  "إتمام\\s+(?:الشراء|الطلب|عملية)|إنهاء\\s+(?:الشراء|الطلب)|^\\P{L}*الدفع\\P{L}*$|לקופה|(?:מעבר\\s+)?לתשלום|تسویه\\s*حساب|(?:ادامه|تکمیل)\\s+(?:فرایند\\s+)?خرید",
  "^\\P{L}*(?:tiến\\s+hành\\s+)?thanh\\s+toán\\P{L}*$|^\\P{L}*(?:ดำเนินการ)?(?:ชำระเงิน|สั่งซื้อ)\\P{L}*$|चेकआउट"
].join("|")

const shortWords =
  /check ?out|zur kasse|^kasse|caisse|^\W*commander\W*$|(?:valider|passer|finaliser) (?:la |ma |votre )?commande|finalizar (?:la |a )?compra|tramitar|realizar (?:el )?pedido|cassa|procedi con l['’]ordine|afrekenen|naar (?:de )?kassa|till? kass|kassalle|do kasy|k pokladně|к оформлению|レジに進む|去结算|结算|結帳/iu
/** What a link to the checkout says. Some of it orders on a button; a look at a page does not. */
export const checkoutWords = new RegExp(`${shortWords.source}|${toCheckout}`, "iu")

const checkoutNames =
  "check-?outs?|kasse|onepage|caisse|commande|commander|finaliser-commande|finalizar-compra|tramitar-pedido|cassa|afrekenen|kassa|kassan|kasa|pokladna|pokladňa|penztar|zam[oó]wienie|objedn[aá]vka|odeme|oformlenie|thanh-toan"
const checkoutPath = new RegExp(`/(?:${checkoutNames})(?:/|$)`, "iu")
const checkoutPage = new RegExp(`/(?:${checkoutNames})/?$`, "iu")

/** Whether an address, its path decoded, is one of a checkout or of a page of it. */
export const isCheckoutPath = (path: string): boolean => checkoutPath.test(path)

/** Whether it is plainly that of a checkout, whatever a shop calls the link: below its language, too. */
export const isCheckoutPage = (path: string): boolean => checkoutPage.test(path)

/**
 * Of a page without a way to the checkout, the one to which a link leads back by its query: shops that sell to nobody without an account, as
 * Odoo can, link to their login in its place. Opened by itself it tells whether that is so.
 */
export const checkoutBehind = ({ links, url }: Pick<PageFacts, "links" | "url">): URL | undefined => {
  const { host } = new URL(url)
  return links
    .map(({ href }) => URL.parse(href))
    .filter((link) => link !== null)
    .filter((link) => link.host === host)
    .flatMap((link) => [...link.searchParams.values()].map((value) => URL.parse(value, link.href)))
    .filter((back) => back !== null)
    .find((back) => back.host === host && isCheckoutPage(back.pathname))
}

/** What a button that goes on says, in languages in which it says nothing else. */
export const onward = [
  "weiter|fort(?:fahren|setzen)|speichern\\s+und\\s+weiter",
  "continuer|suivante?|étape\\s+suivante",
  "continuar|siguiente",
  "continua|avanti|prosegui",
  "avançar|próximo|seguinte",
  "doorgaan|(?:ga\\s+)?verder|volgende(?:\\s+stap)?",
  "fortsätt|nästa(?:\\s+steg)?|fortsæt|næste|fortsett|neste|jatka|seuraava",
  "(?:przejdź\\s+)?dalej|kontynuuj|pokračovat|pokračovať|další|ďalej|tovább",
  "devam(?:\\s+et)?|далее|продолжить|далі|продовжити",
  "次へ(?:進む)?|下一步|다음(?:\\s*단계)?",
  "متابعة|التالي|استمرار|استمر|המשך|לשלב\\s+הבא|הבא|ادامه|مرحله\\s+بعد|بعدی",
  "tiếp\\s+(?:tục|theo)|ถัดไป|ดำเนินการต่อ|ต่อไป|आगे\\s+बढ़ें|जारी\\s+रखें|अगला"
].join("|")

/** What a page says of a cart that holds nothing. */
const emptyCart = any(
  "(?:cart|bag|basket|trolley)\\s+is\\s+(?:currently\\s+)?empty|(?:don['’]?t|do\\s+not)\\s+have\\s+any(?:thing|\\s+items)\\s+in\\s+your\\s+(?:cart|bag|basket)|(?:no(?:\\s+more)?|(?<!\\d)0)\\s+items?\\s+in\\s+(?:your|the)\\s+(?:\\S+\\s+)?(?:cart|bag|basket|trolley)|empty\\s+(?:cart|bag|basket)",
  "keine?\\s+(?:weiteren\\s+)?artikel\\s+(?:im|in\\s+(?:ihrem|deinem))\\s+warenkorb|warenkorb\\s+enthält\\s+keine|(?:plus\\s+d['’]|aucun\\s+)(?:articles?|produits?)\\s+dans\\s+(?:votre|le)\\s+panier|no\\s+hay\\s+(?:más\\s+|ningún\\s+)?(?:artículos?|productos?)\\s+en\\s+(?:su|tu|el|la)\\s+(?:carrito|cesta)|non\\s+ci\\s+sono\\s+(?:più\\s+)?(?:articoli|prodotti)\\s+nel\\s+(?:tuo\\s+|suo\\s+)?carrello",
  "(?:warenkorb|einkaufswagen)\\s+ist\\s+(?:\\S+\\s+)?leer|panier\\s+est\\s+(?:\\S+\\s+)?vide|(?:carrito|cesta|bolsa)\\s+(?:\\S+\\s+)?vac",
  "carrello\\s+è\\s+vuoto|carrinho\\s+(?:\\S+\\s+){0,2}vazi|winkel(?:wagen|mand|mandje)\\s+is\\s+(?:\\S+\\s+)?leeg|koszyk\\s+jest\\s+pusty",
  "(?:varukorg(?:en)?|kundvagn(?:en)?|(?:indkøbs|handle)?kurv(?:en)?)\\s+(?:din\\s+)?(?:är|er)\\s+(?:\\S+\\s+)?tom|ostoskori\\S{0,10}\\s+on\\s+tyhjä|koší?k\\s+je\\s+prázdný|sepetiniz\\s+boş|корзина\\s+пуста",
  "カート(?:の中身?)?(?:は|が)空|カートに商品(?:が|は)(?:入っていません|ありません)|购物车(?:是|为)?空|購物車(?:是|為)?空|(?:장바구니|카트)가\\s*비어"
)

/**
 * In which words a cart's page says that it holds nothing; undefined where it does not. What it calls its controls and links is none of
 * them: a full cart has a button "Empty cart". `text` is what is to be read, whose drawn names may be in other cases than the page's.
 */
export const saysEmpty = (
  text: string,
  { controls, forms, links }: Pick<PageFacts, "controls" | "forms" | "links">
): string | undefined => {
  const named = [...controls, ...forms.flatMap((form) => form.controls)].map(({ label, value }) => label ?? value ?? "")
  const names = [...named, ...links.map((link) => link.text)].filter((name) => emptyCart.test(name))
  return emptyCart.exec(names.reduce((rest, name) => rest.replaceAll(name.toLowerCase(), " "), text.toLowerCase()))?.[0]
}
