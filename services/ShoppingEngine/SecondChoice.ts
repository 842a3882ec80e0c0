import type { Offered } from "#domain/ProductChoice.ts"
import type { Blocker } from "#domain/ShoppingTest.ts"
import type { StepTried } from "#domain/ShoppingVerdict.ts"
import type { Storefront } from "./Discovery.ts"
import { snippet, warning } from "./Outcomes.ts"

/** How many products are taken one after the other, while each turns out to be sold out only when it is put into the cart. */
export const mostChoices = 3

const isOut = ({ id, severity }: Blocker): boolean => id === "out_of_stock" && severity === "blocking"

/** Whether nothing is left of a product, as only the cart told: many shops draw that by a script, and state it nowhere. */
export const isSoldOut = (bought: ReadonlyArray<StepTried>): boolean => {
  const last = bought.at(-1)
  return last?.step === "cart" && last.status === "failed" && last.blockers.some(isOut)
}

/** The shop's other products; undefined when there are none. */
export const without = (front: Storefront, { candidate }: Offered): Storefront | undefined => {
  const { name, platformId, url } = candidate
  const isOther = (other: Offered["candidate"]): boolean =>
    url === undefined ? other.platformId !== platformId || other.name !== name : other.url?.href !== url.href
  const offers = front.offers.filter((offered) => isOther(offered.candidate))
  const productUrls = front.productUrls.filter(({ href }) => href !== url?.href)
  const isLeft = front.offers.length > 0 ? offers.length > 0 : productUrls.length > 0
  return isLeft ? { ...front, offers, productUrls } : undefined
}

/** The steps of a product that was taken in place of one that is sold out, which stays a warning. */
export const insteadOf = (
  { candidate: { name, url } }: Offered,
  bought: ReadonlyArray<StepTried>
): ReadonlyArray<StepTried> =>
  bought.map((tried) => {
    if (tried.step !== "cart") return tried
    const detail = `"${name}" was chosen before, and only when it was to be put into the cart did the shop say that none is left.`
    return {
      ...tried,
      blockers: [...tried.blockers, warning("cart", "out_of_stock", detail, snippet(url?.href ?? name))]
    }
  })
