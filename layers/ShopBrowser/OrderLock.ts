import {
  isAsideAddress,
  isReviewPage,
  ordersByLook,
  saysOrder,
  sendsPayment,
  soundsLikeDeed,
  takesOrders
} from "#domain/Deeds.ts"

/** A request as the browser is about to send it. */
export interface Leaving {
  readonly method: string
  readonly url: URL
  readonly body: string
  readonly isDocument: boolean
  /** The page that asks for it, where it says so. */
  readonly from?: string | undefined
}

/** Where a change orders or pays, besides what sounds like it. */
const orderAddress = /\/(?:payments?|process[-_]?payment)\/?$/i

/** The last lock: a change that orders, by its address or by what it says, never leaves, whoever asked for it. */
export const placesOrder = (method: string, url: URL, body = ""): boolean =>
  method !== "GET" &&
  method !== "HEAD" &&
  method !== "OPTIONS" &&
  (takesOrders(url) || orderAddress.test(url.pathname) || saysOrder(body))

/**
 * Whether it orders, or is a page at an address where a mere look may, or a form that says how it is paid. Scripts say that to learn the
 * total, and are not stopped.
 */
export const isOrder = ({ body, from, isDocument, method, url }: Leaving): boolean =>
  placesOrder(method, url, body) ||
  ordersByLook(url) ||
  (isDocument && ((soundsLikeDeed(url) && !isLookedAt(method, url, from)) || (method !== "GET" && sendsPayment(body))))

/** A platform's page on which an order is looked at, come to from its page before. */
const isLookedAt = (method: string, url: URL, from: string | undefined): boolean => {
  const before = from === undefined ? null : URL.parse(from)
  return method === "GET" && before !== null && isReviewPage(before, url)
}

/** Whether it does what a test leaves aside. */
export const isAside = ({ method, url }: Leaving): boolean =>
  method !== "GET" && method !== "HEAD" && method !== "OPTIONS" && isAsideAddress(url)

/** What must not leave, by whatever chain of redirects. */
export const mustStay = (leaving: Leaving): boolean => isOrder(leaving) || isAside(leaving)
