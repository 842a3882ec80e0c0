import type { PageFacts } from "./PageFacts.ts"
import { attributeOf, clipped, folded, textOf } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

type Wall = PageFacts["walls"][number]

/** A page with less text than this has nothing beside its wall. */
export const bareLength = 1_200

/** What asks how old somebody is. */
export const asksAge =
  /(?:are you|i am|i'm|you must be|must be) (?:at least )?(?:over|of legal|18|19|21)|(?:verify|confirm) (?:your|you are).{0,20}(?:age|18|21|legal)|legal (?:drinking|smoking) age|(?:sind sie|bist du|ich bin).{0,20}(?:18|volljährig)|(?:avez-vous|j'ai|vous devez avoir).{0,20}(?:18 ans|l'âge légal)|(?:eres|soy|tienes|es usted).{0,20}(?:mayor de edad|18)|(?:hai|sei).{0,20}(?:maggiorenne|18 anni)|(?:ben je|ik ben).{0,20}18|(?:você tem|tenho|sou).{0,20}(?:18 anos|maior de idade)|czy masz.{0,20}18/i
/** Not what Magento says on every page to whoever has none: "The store will not work correctly when cookies are disabled." */
const asksCookies =
  /(?:enable|activate|turn on) cookies|(?<!(?:when|if|while|unless|until|once) (?:your )?)cookies (?:are|must be|need to be) (?:disabled|enabled|required)|(?:accept|agree to).{0,30}cookies to (?:continue|proceed|enter|use)|cookies aktivieren|activez? les cookies|activa(?:r)? las cookies/i
const asksCountry =
  /(?:not|isn't|is not|no longer) (?:currently )?available in your (?:country|region|location)|do(?:es)? not (?:currently )?ship to your (?:country|region)|(?:choose|select) (?:your|a) (?:country|region|location)(?: (?:and|or|&) language)? to (?:continue|enter|shop)|nicht in (?:ihrem|deinem) land verfügbar|pas disponible dans votre pays|no (?:está )?disponible en (?:tu|su) país/i
const asksAccount =
  /(?:log ?in|sign ?in|register|create an account) (?:to|for) (?:view|see|access|shop|continue|enter|prices)|(?:members|customers|trade|wholesale) only|enter (?:store )?using password|this store is password protected|bitte (?:melden sie sich an|einloggen), um|(?:connectez-vous|identifiez-vous) pour|inicia(?:r)? sesión para (?:ver|continuar|comprar)/i

/** What lets its visitors choose where they are. */
const asksWhich =
  /(?:choose|select|pick) (?:your|a) (?:shipping )?(?:country|region|location|store|market)|(?:wählen sie|wähle) (?:ihr|dein|ein|bitte ihr)e?n? (?:land|region|lieferland)|(?:choisissez|sélectionnez) votre (?:pays|région)|(?:elige|elija|selecciona|seleccione) (?:tu|su) (?:país|región)|(?:scegli|seleziona) il tuo paese|(?:escolha|selecione) (?:o )?seu país|kies (?:je|uw) land|wybierz (?:swój )?kraj/i

/** Whether a wall of a place only asks where its visitor is. */
export const asksPlace = ({ kind, marker }: Wall): boolean => kind === "geo" && asksWhich.test(marker)

/** A question of consent or of a place that is all a page has to say; undefined where it says more. */
export const onlyAsks = (facts: Pick<PageFacts, "visibleLength" | "visibleText" | "walls">): string | undefined => {
  if (facts.visibleLength > bareLength) return undefined
  const wall = facts.walls.find((one) => one.kind === "cookie" || asksPlace(one))
  return wall?.marker ?? asksWhich.exec(folded(facts.visibleText))?.[0]
}

/** A line in which a shop lets its visitors wait when many come. */
const waits =
  /\byou(?: are|['’]re) (?:now )?in (?:the |a |our )?(?:line|queue|waiting (?:room|line))\b|\bvirtual (?:waiting room|queue)\b|\bnumber (?:of (?:users|people|visitors) )?in (?:line|queue) ahead of you|in (?:der|einer) (?:virtuellen )?warteschlange|virtuelle[nr]? warteraum|dans (?:la|une) (?:salle|file) d['’]attente|est[aá]s? en (?:la|una) (?:cola|fila)(?: virtual| de espera)?|sei in (?:coda|fila)|na fila (?:virtual|de espera)|in de (?:virtuele )?wachtrij|w (?:wirtualnej )?kolejce/i

/** What a page says that only lets its visitors wait. */
export const waitingRoom = ({
  visibleLength,
  visibleText
}: Pick<PageFacts, "visibleLength" | "visibleText">): string | undefined =>
  visibleLength > bareLength ? undefined : waits.exec(folded(visibleText))?.[0]

const forPrices = new RegExp(
  [
    "(?:log ?in|sign ?in|register)(?: or (?:register|sign up))? (?:to|for) (?:view |see |show |get )?(?:the |our |your |wholesale |trade )?(?:prices?|pricing)\\b",
    "prices? (?:are |is )?(?:only )?(?:visible|available|shown) (?:only )?(?:to|for|after) (?:registered|logged|login|members|dealers|trade)",
    "(?:anmelden|einloggen|registrieren),? um (?:die |ihre |deine )?preise|preise?(?: sind)?(?: nur| erst)? (?:für|nach) (?:angemeldete|registrierte|händler|fachhändler|anmeldung|login)",
    "connectez-vous pour (?:voir|consulter|afficher) (?:les |nos |vos |le )?(?:prix|tarifs)",
    "(?:inicia|iniciar|inicie) sesión para ver (?:los |el )?precios?|accedi per (?:vedere|visualizzare) (?:i |il )?prezz[oi]",
    "log in om (?:de |je |uw )?prijzen|prijzen (?:zijn )?(?:alleen |pas )?zichtbaar (?:voor|na)|zaloguj się,? (?:aby|żeby) zobaczyć cen"
  ].join("|"),
  "i"
)

/** What a page says that tells its prices only to whoever has logged in. */
export const pricesForAccounts = ({ visibleText }: Pick<PageFacts, "visibleText">): string | undefined =>
  forPrices.exec(folded(visibleText))?.[0]

const ageBox = /(?:^|[\s_-])age[\s_-]?(?:gate|check|verif\w*|wall|restrict\w*|popup|modal|confirm\w*)/i

const nameOf = (element: PageElement) =>
  `${element.attributes.get("id") ?? ""} ${element.attributes.get("class") ?? ""}`.slice(0, 500)

/** An overlay that is there before any script has run, and asks for the age. */
const ageOverlay = (tree: PageTree): Wall | undefined => {
  for (const element of tree.elements) {
    if (element.isHidden || element.attributes.size === 0 || element.tag === "body" || element.tag === "html") continue
    const isBox =
      ageBox.test(nameOf(element)) || attributeOf(element, "role", 20) === "dialog" || element.tag === "dialog"
    if (!isBox || element.to - element.from > 4_000) continue
    const asked = asksAge.exec(textOf(tree, element, 1_000))
    if (asked !== null) return { kind: "age", marker: clipped(asked[0], 200) }
  }
  return undefined
}

/**
 * What has to be passed before a page can be used. A banner over a page that is all there is none: cookies, country and account
 * count only where there is hardly anything else to read.
 */
export const readWalls = (tree: PageTree, visible: string, sellsHere: boolean): ReadonlyArray<Wall> => {
  const overlay = ageOverlay(tree)
  const walls: Array<Wall> = overlay === undefined ? [] : [overlay]
  if (visible.length > bareLength || sellsHere) return walls
  const text = folded(visible)
  const asked: ReadonlyArray<readonly [Wall["kind"], RegExp]> = [
    ["age", asksAge],
    ["cookie", asksCookies],
    ["geo", asksCountry],
    ["account", asksAccount]
  ]
  for (const [kind, pattern] of asked) {
    const found = walls.some((wall) => wall.kind === kind) ? null : pattern.exec(text)
    if (found !== null) walls.push({ kind, marker: clipped(found[0], 200) })
  }
  return walls
}
