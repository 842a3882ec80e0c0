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

/** What leads from a cart to the checkout, in languages in which that has words of its own. Alone some are said of ways to pay as well. */
export const toCheckout = [
  "(?:do\\s+)?(?:realizacji|finalizacji)\\s+zamówieni|(?:pokračovat|přejít)\\s+(?:v|k)\\s+objednáv|k\\s+pokladni|pokračovať\\s+v\\s+objednáv",
  "(?:tovább\\s+)?a\\s+pénztár|ödeme(?:ye|\\s+adımına)\\s+(?:geç|ilerle)|alışverişi\\s+tamamla",
  "оформ(?:ить|ление|лення)\\s+(?:заказа?|замовлення)|оформити\\s+замовлення",
  "購入手続き|注文手続き|^\\P{L}*주문하기\\P{L}*$",
  "إتمام\\s+(?:الشراء|الطلب|عملية)|إنهاء\\s+(?:الشراء|الطلب)|^\\P{L}*الدفع\\P{L}*$|לקופה|(?:מעבר\\s+)?לתשלום|تسویه\\s*حساب|(?:ادامه|تکمیل)\\s+(?:فرایند\\s+)?خرید",
  "^\\P{L}*(?:tiến\\s+hành\\s+)?thanh\\s+toán\\P{L}*$|^\\P{L}*(?:ดำเนินการ)?(?:ชำระเงิน|สั่งซื้อ)\\P{L}*$|चेकआउट"
].join("|")

/** What a button that goes on says, in languages in which it says nothing else. */
export const onward = [
  "weiter|fortfahren|speichern\\s+und\\s+weiter",
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
