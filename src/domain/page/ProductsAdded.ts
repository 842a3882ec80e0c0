import { type AddToCart, byLink, inForm } from "./AddToCart.ts"
import type { PageFacts } from "./PageFacts.ts"

/** Names under which systems send what is put into the cart: the product before its variant. */
const productField = /^(?:product(?:s?_?id)?|product-id|id_product|pid|add-to-cart)$|^lineItems\[[^\]]+\]\[id\]$/i
const variantField = /^(?:id|sku|variant(?:[_-]?id)?|item(?:[_-]?id)?)$/i

/** As `/checkout/cart/add/product/12/` and `/cart/add/12`. */
const inPath = /\/(?:product|id|add)\/(\d+)(?:\/|$)/i

const nameIn = ({ action, fields }: AddToCart): ReadonlyArray<string> => {
  const url = URL.parse(action ?? "")
  const sent = [...fields, ...(url?.searchParams ?? [])]
  const told = (names: RegExp) => sent.find(([name, value]) => names.test(name) && value !== "")?.[1]
  return [told(productField) ?? told(variantField) ?? inPath.exec(url?.pathname ?? "")?.[1]].filter(
    (name) => name !== undefined
  )
}

/**
 * What the page's forms put into the cart or, where none does, its links, by the names that are sent. A page of one product has its form
 * and may link to add others.
 */
export const productsAdded = ({ forms, links }: Pick<PageFacts, "forms" | "links">): ReadonlySet<string> => {
  const added = forms.flatMap((form) => inForm(form)?.found ?? [])
  const linked = added.length > 0 ? [] : links.slice(0, 1_000).flatMap((link) => byLink(link)?.found ?? [])
  return new Set([...added, ...linked].flatMap(nameIn))
}
