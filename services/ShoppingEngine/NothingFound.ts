import { accountWall } from "#domain/page/Accounts.ts"
import { addToCart } from "#domain/page/AddToCart.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import { bareLength, onlyAsks } from "#domain/page/Walls.ts"
import type { PageSeen } from "./ApiRail.ts"
import type { Errand } from "./Errand.ts"
import { failed, snippet, unknown } from "./Outcomes.ts"
import type { StepOutcome } from "./Rail.ts"

/** Why nothing is seen behind a question of age: ours to refuse, it says nothing about the shop. */
export const ageGate = ({ walls }: PageFacts): string | undefined => {
  const age = walls.find(({ kind }) => kind === "age")
  return age === undefined
    ? undefined
    : `The home page asks how old its visitor is (${age.marker}) and shows no product before, and a test does not answer that.`
}

/** Pages that are told apart behind a "#" alone, which only their script reads. */
const route = /#!?\/[^/]/

/** Why nothing of a shop is found that has one address for all its pages: ours not to follow, it says nothing about the shop. */
export const oneAddress = ({ links }: Pick<PageFacts, "links">): string | undefined => {
  const link = links.find(({ href }) => route.test(href))
  return (
    link && `The shop has one address for all its pages, as ${snippet(link.href)}, and a test does not follow those.`
  )
}

/** What a home page says that sells what it lists, without a page for each product: ours not to buy there, it says nothing about the shop. */
export const sellsFromList = ({ controls, forms, prices }: PageFacts): string | undefined => {
  const found = prices.length > 0 ? addToCart({ forms, controls, links: [] }) : undefined
  return found?.kind === "form"
    ? `The home page sells what it lists ("${found.marker}") and leads to no page of a product, and a test buys from those alone.`
    : undefined
}

/** A page with more links than this is more than a question. */
export const fewLinks = 5

/** Whether a page that says and links little asks for a password: shops have one until they open, as Shopify has at `/password`. */
const isLocked = ({ controls, forms, links, visibleLength }: PageFacts): boolean =>
  links.length <= fewLinks &&
  visibleLength <= bareLength &&
  [...controls, ...forms.flatMap((form) => form.controls)].some(({ type }) => type === "password")

/** A captcha that somebody has to solve before anything of the shop is seen, with whatever status it comes. */
const captchaBefore = ({ captchas, links, visibleLength }: PageFacts): StepOutcome | undefined => {
  const captcha = captchas.find(({ visible }) => visible)
  if (captcha === undefined || links.length > fewLinks || visibleLength > bareLength) return undefined
  const detail = `The home page asks to solve a captcha of ${captcha.vendor} before it shows anything.`
  return failed("discovery", "bot_challenge", detail, snippet(captcha.marker))
}

/** What the server of a shop could not give, however often it was asked: products may be there. */
export const troubled = (errand: Errand): string | undefined => {
  const last = new Map(errand.requests().map(({ status, url }) => [url, status]))
  const found = [...last].find(
    ([url, status]) =>
      (status ?? 0) >= 500 && !/^\/(?:turnpike-|robots\.txt|\.well-known\/)/.test(URL.parse(url)?.pathname ?? "")
  )
  return found && `${URL.parse(found[0])?.pathname} answers ${found[1]}`
}

/** Why there is nothing to buy: robots.txt forbids it, only scripts may know, or it is not there. */
export const nothing = (
  urls: ReadonlyArray<URL>,
  home: PageSeen,
  warnings: ReadonlyArray<Blocker>,
  trouble: string | undefined,
  refused: StepOutcome | undefined
): StepOutcome => {
  if (urls.length > 0) {
    const detail = `robots.txt disallows all ${urls.length} product pages that we know.`
    return failed("discovery", "robots_disallowed", detail, snippet(urls[0]?.href), warnings)
  }
  const captcha = captchaBefore(home.facts)
  if (captcha !== undefined) return { ...captcha, blockers: [...warnings, ...captcha.blockers] }
  const marker = home.facts.clientOnly?.marker
  if (marker !== undefined) {
    const detail = `The home page is empty before its scripts have run: ${marker}.`
    return failed("discovery", "javascript_wall", detail, snippet(marker), warnings)
  }
  const gate = ageGate(home.facts)
  if (gate !== undefined) return unknown(gate, snippet(home.facts.visibleText), warnings)
  const asked = onlyAsks(home.facts)
  if (asked !== undefined) {
    const what = `The home page asks something ("${asked}") and shows no product before, and a test does not answer that.`
    return unknown(what, snippet(home.facts.visibleText), warnings)
  }
  if (home.facts.isCut) {
    const detail =
      "The home page is longer than we read, and up to there nothing leads to a product; nor does a sitemap or an interface."
    return unknown(detail, snippet(home.facts.visibleText), warnings)
  }
  if (trouble !== undefined) return unknown(`No product was found, and ${trouble}.`, null, warnings)
  if (refused !== undefined) return { ...refused, blockers: [...warnings, ...refused.blockers] }
  const list = sellsFromList(home.facts)
  if (list !== undefined) return unknown(list, snippet(home.facts.visibleText), warnings)
  const wall = home.facts.links.length <= fewLinks ? accountWall(home.facts, home.answer.url) : undefined
  if (wall !== undefined) {
    const detail = "The home page asks for a login and shows no product before."
    return failed("discovery", "account_required", detail, snippet(wall), warnings)
  }
  if (isLocked(home.facts)) {
    const detail = "The home page asks for a password and shows no product before."
    return failed("discovery", "account_required", detail, snippet(home.facts.visibleText), warnings)
  }
  const detail = "Neither a sitemap nor links nor an interface leads to a product."
  const text = snippet(home.facts.visibleText)
  // Many shops draw their products into a page that has everything else.
  return home.facts.scripts.length > 0
    ? failed("discovery", "javascript_wall", `${detail} The scripts of the home page may show some.`, text, warnings)
    : failed("discovery", "no_products_found", detail, text, warnings)
}
