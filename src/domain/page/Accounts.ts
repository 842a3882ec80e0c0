import { guestPhraseIn } from "../GuestWords.ts"
import type { PageFacts } from "./PageFacts.ts"

const guestPaths =
  /\/(?:guest[-_]?check-?out|check-?out[-_/]guest|guest-?order)|[?&](?:guest|checkout_as_guest)=(?:1|true)/i
const accountPaths =
  /^(?:\/[a-z]{2}(?:[-_][a-z]{2})?)?\/(?:[\w-]+\/)?(?:account|accounts|customer|customers|user|users|auth|my-account|konto|compte|cuenta|conta|member|members)?\/?(?:account\/)?(?:log-?in|sign-?in|signin|register|sign-?up|authentication|anmelden|connexion|iniciar-sesion|entrar|accedi|inloggen|my-account|mein-konto|mon-compte|mi-cuenta|minha-conta)(?:[/.?].*)?$/i
/** Where a hosted shop asks for an address and sends a code: no password is asked there. */
export const codePaths = /^\/(?:authentication\/\d+\/|customer_authentication\/|\d+\/account(?:\/|$))/i
const accountWords =
  /(?:you must|please|you need to) (?:be logged in|log ?in|sign ?in|register|create an account)(?: (?:to|before|in order to) (?:check ?out|continue|order|complete|proceed|purchase|buy))|must be logged in to check ?out|(?:log ?in|sign ?in|create an account) to (?:check ?out|continue to checkout|complete your (?:order|purchase)|place (?:an|your) order)|(?:bitte )?(?:melden sie sich an|einloggen), um (?:zur kasse|zu bestellen|fortzufahren)|connectez-vous pour (?:commander|continuer|finaliser)|inicia(?:r)? sesión para (?:continuar|comprar|finalizar)|faça login para (?:continuar|comprar|finalizar)|accedi per (?:continuare|acquistare)|log in om (?:te bestellen|verder te gaan)|zaloguj się, aby/gi
/** That there has to be an account, and not that there need not be. */
const accountNeeds = new RegExp(
  [
    "you(?:['’]ll)? (?:must have|need(?: to have)?) an account (?:to|before you(?: can)?|in order to) (?:check ?out|continue|order|complete|proceed|purchase|buy|place)",
    "(?<!\\bno )account is (?:required|needed|necessary) (?:to|for) (?:check(?:ing)? ?out|continu|order|complet|proceed|purchas|buy|plac)",
    "(?:benötig(?:en sie|st du)|brauch(?:en sie|st du)|sie (?:benötigen|brauchen)|du (?:benötigst|brauchst)) ein (?:kunden)?konto,? (?:um|zum) (?:zu bestellen|bestellen|fortzufahren|zur kasse|zu kaufen|(?:die |ihre |deine )?bestellung)",
    "(?:du musst|sie müssen) (?:angemeldet|eingeloggt|registriert) sein,? um (?:zur kasse|zu bestellen|fortzufahren|(?:eine |die |deine |ihre )bestellung)",
    "(?:zum (?:bestellen|kaufen)|für (?:ihre|deine|die) bestellung) (?:ist ein (?:kunden)?konto (?:erforderlich|nötig|notwendig)|(?:benötig(?:en sie|st du)|brauch(?:en sie|st du)) ein (?:kunden)?konto)",
    "(?:vous devez (?:avoir|créer|posséder)|il (?:vous )?faut(?: créer)?) un compte pour (?:commander|continuer|finaliser|acheter|passer)",
    "un compte (?:client )?est (?:nécessaire|requis|obligatoire) pour (?:commander|continuer|finaliser|acheter|passer)",
    "vous devez (?:être connectée?|vous connecter|vous identifier) pour (?:commander|continuer|finaliser|acheter|passer)",
    "(?<!\\bno )(?:necesitas?|debes? (?:tener|crear)|tienes? que (?:tener|crear)|hay que tener) una cuenta para (?:continuar|comprar|finalizar|realizar|hacer)",
    "(?<!\\bno )(?:debes?|tienes? que) (?:iniciar sesión|acceder|registrarte|estar (?:registrad|identificad|conectad)[oa]) para (?:continuar|comprar|finalizar|realizar|hacer)"
  ].join("|"),
  "giu"
)
/** What follows where an account is only an advantage: `Log in to check out faster`. */
const advantage =
  /^(?:ing)?,? (?:more |even )?(?:fast(?:er)?|quick(?:er|ly)?|sooner|easi(?:er|ly)|in seconds|shopping|earning|with|using|and|&|schneller|plus vite|más rápido)(?![\p{L}])/iu

/** What on a page says that one may buy without an account: texts, and addresses of links and forms. At most 10. */
export const guestMarks = (
  facts: Pick<PageFacts, "visibleText" | "links" | "forms" | "controls">
): ReadonlyArray<string> => {
  const labels = [...facts.controls, ...facts.forms.flatMap((form) => form.controls)].map(
    (control) => control.label ?? ""
  )
  // What a link says counts by itself as well: in the text of the page another follows it, such as one to what was ordered before.
  const said = [facts.visibleText, ...labels, ...facts.links.map(({ text }) => text)]
  const texts = said.flatMap((text) => guestPhraseIn(text) ?? [])
  const addresses = [...facts.links.map((link) => link.href), ...facts.forms.map((form) => form.action)]
  return [...new Set([...texts, ...addresses.filter((address) => guestPaths.test(address))])].slice(0, 10)
}

const asksPassword = (facts: Pick<PageFacts, "forms" | "controls">) =>
  [...facts.controls, ...facts.forms.flatMap((form) => form.controls)].some((control) => control.type === "password")

const asksAddress = (facts: Pick<PageFacts, "forms" | "controls">) =>
  [...facts.controls, ...facts.forms.flatMap((form) => form.controls)].some(
    (control) =>
      /address|street|post|zip|shipping/i.test(`${control.name ?? ""} ${control.autocomplete ?? ""}`) &&
      control.type !== "hidden"
  )

/**
 * What shows that nobody gets on without an account: the address that was reached is one for signing in and asks for a password,
 * or the text says so. A page that lets guests on, or already asks where to deliver, is no such wall.
 */
export const accountWall = (
  facts: Pick<PageFacts, "visibleText" | "links" | "forms" | "controls">,
  url: URL
): string | undefined => {
  if (guestMarks(facts).length > 0 || asksAddress(facts)) return undefined
  if (codePaths.test(url.pathname) || (accountPaths.test(url.pathname) && asksPassword(facts)))
    return url.pathname.slice(0, 200)
  const { visibleText } = facts
  const asked = [...visibleText.matchAll(accountWords), ...visibleText.matchAll(accountNeeds)].find(
    ({ 0: words, index }) => {
      const end = index + words.length
      return !advantage.test(visibleText.slice(end, end + 40))
    }
  )
  return asked?.[0]
}
