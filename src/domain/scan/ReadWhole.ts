import type { Answer, QuestionId } from "../Rubric.ts"
import type { SiteFacts } from "./SiteFacts.ts"

/** Questions that are failed by what is not there: it may be in the part that we did not read. */
const ofAbsence: ReadonlySet<QuestionId> = new Set<QuestionId>([
  "works_without_javascript",
  "operable_structure",
  "product_json_ld",
  "offer_clarity",
  "price_consistent",
  "shipping_returns",
  "variants_expressed",
  "sitemap_products",
  "product_feed",
  "search_usable",
  "organization_identity",
  "cart_api",
  "guest_checkout",
  "payment_methods",
  "form_recognizable"
])

/** What was not found in a document that we cut is unknown, and no fault of the site. */
export const asFarAsRead = (
  answers: ReadonlyArray<Answer>,
  { cart, cartApi, catalogue, checkout, home, products, search, sitemap, tried }: SiteFacts
): ReadonlyArray<Answer> => {
  const seen = [
    home,
    ...tried,
    ...products,
    cart,
    cartApi?.sight,
    checkout,
    catalogue?.sight,
    search.sight,
    sitemap.sight
  ]
  const cut = new Set(seen.flatMap((sight) => (sight?.isTruncated === true ? [sight.url] : [])))
  return answers.map((answer) => {
    const { evidence, id, message, status } = answer
    const isFound = status !== "fail" && status !== "warn"
    if (isFound || !ofAbsence.has(id) || evidence === null || !cut.has(evidence.url)) return answer
    return { id, status: "unknown", message: `${message} There is more of it than we read.`, evidence, fix: null }
  })
}
