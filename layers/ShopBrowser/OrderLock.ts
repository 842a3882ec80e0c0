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
  /** Undefined where it cannot be read. */
  readonly body: string | undefined
  readonly isDocument: boolean
  /** The page that asks for it, where it says so. */
  readonly from?: string | undefined
}

/** Where a change orders or pays, besides what sounds like it. */
const orderAddress = /\/(?:payments?|process[-_]?payment)\/?$/i

const changes = (method: string): boolean => method !== "GET" && method !== "HEAD" && method !== "OPTIONS"

/** The last lock: a change that orders, by its address or by what it says, never leaves, whoever asked for it. */
export const placesOrder = (method: string, url: URL, body = ""): boolean =>
  changes(method) && (takesOrders(url, body) || orderAddress.test(url.pathname) || saysOrder(body))

/**
 * Whether it orders, or is a page at an address where a mere look may, or a form that says how it is paid. Scripts say that to learn the
 * total, and are not stopped.
 */
export const isOrder = ({ body, from, isDocument, method, url }: Leaving): boolean =>
  placesOrder(method, url, body) ||
  ordersByLook(url) ||
  (isDocument &&
    ((soundsLikeDeed(url) && !isLookedAt(method, url, from)) || (method !== "GET" && sendsPayment(body ?? ""))))

/** A platform's page on which an order is looked at, come to from its page before. */
const isLookedAt = (method: string, url: URL, from: string | undefined): boolean => {
  const before = from === undefined ? null : URL.parse(from)
  return method === "GET" && before !== null && isReviewPage(before, url)
}

/** Whether it does what a test leaves aside. */
export const isAside = ({ method, url }: Leaving): boolean => changes(method) && isAsideAddress(url)

/** Those who tell people from programs pack what they send, and take no orders. Without them many forms do nothing. */
const vetting =
  /^(?:www\.)?(?:google\.com|recaptcha\.net)\/recaptcha\/|^(?:[\w-]+\.)*(?:hcaptcha\.com|arkoselabs\.com|captcha-delivery\.com)\/|^challenges\.cloudflare\.com\//

/** Whether it changes something and does not let itself be read: it may order as well as anything else. */
export const mayHideOrder = ({ body, method, url }: Leaving): boolean =>
  changes(method) && body === undefined && !(url.protocol === "https:" && vetting.test(`${url.host}${url.pathname}`))

/** What must not leave, by whatever chain of redirects. */
export const mustStay = (leaving: Leaving): boolean => isOrder(leaving) || isAside(leaving) || mayHideOrder(leaving)
