// The 402 for all: version 2 of x402 in a header, version 1 and the native flow in the body, MPP in another header.
import { formatDecimal } from "../Money.ts"
import type { TokenKey } from "../PaymentToken.ts"
import { challengesOf, methodOf, problemOf, speaksMpp, writeChallenge } from "./Mpp.ts"
import { signInExtension, signInFor } from "./Siwx.ts"
import { svmMemo } from "./SvmExact.ts"
import { bazaar, paymentIdentifier } from "./X402Extensions.ts"
import { type Asked, type Occasion, offersOf, shortened, v1Requirements } from "./X402Offers.ts"

/** What one 402 says that others of the same demand do not. */
export interface Moment extends Occasion {
  /** Something else in each answer, of the letters of base64url: payments of one payer are told apart by it. */
  readonly salt: string
  /** When the quote was issued (milliseconds). */
  readonly issuedAt: number
  /** The id for the native flow. */
  readonly request: string
  /**
   * The address that was called, where it goes on behind the endpoint's: some clients of version 2 pay for no other than the one they
   * called. The body goes on naming the endpoint, as our own client compares it with what it is told when it has paid.
   */
  readonly url?: string | undefined
}

export interface Demanded {
  /** `PAYMENT-REQUIRED`. */
  readonly header: string
  /** `WWW-Authenticate`; undefined where MPP is not offered. */
  readonly challenge: string | undefined
  readonly body: string
}

/** A 402 of an endpoint at a price for a reason. Quotes of one second are the same, and so is most of the answer. */
export type Demand = (moment: Moment) => Demanded

export interface DemandOptions {
  readonly error: string
  readonly key: TokenKey
  /** Of the native flow (seconds). */
  readonly expiresIn: number
  readonly payUrl: string
  /** Whether knowing the caller changes the price: then it may say who it is. */
  readonly signIn: boolean
}

/**
 * What both headers may have of the 4 KB that proxies accept for a whole head (nginx answers 502 to a longer one): the rest is for all
 * others, among them the longest `X-Request-Id` of a caller, and those of a page, or the two that say once more why a payment failed.
 */
const maxHeaders = (error: string): number => (error === "payment_required" ? 2_980 : 2_910 - 3 * error.length)
/** How long a description may be in the header (bytes), and how long where something else would be left out for it. */
const descriptionLengths = [400, 100]
/** Stands where the salt will be; the quote before it makes it something that occurs nowhere else. */
const placeholder = "salt"

/** Prepares the 402: everything that does not change is made once, what changes with the quote once per quote. */
export const prepareDemand = (asked: Asked, options: DemandOptions): Demand => {
  const { endpoint, price } = asked
  const { error, expiresIn, key, payUrl } = options
  const resources = descriptionLengths.map((bytes) => ({
    url: endpoint.gatewayUrl,
    description: shortened(endpoint.description ?? endpoint.name, bytes),
    mimeType: "application/json"
  }))
  const native = {
    price: formatDecimal(price),
    currency: endpoint.currency,
    network: endpoint.network,
    receiver: endpoint.paymentAddress,
    expires_in: expiresIn,
    pay_url: payUrl
  }
  const some = { "payment-identifier": paymentIdentifier }
  const all = { bazaar: bazaar(endpoint), ...some }
  const problem = problemOf(error)
  const offersMpp = speaksMpp(endpoint)

  const own = JSON.stringify(endpoint.gatewayUrl)
  /** What stands before and behind the first address in a text, which is that of what is paid for, and how long it is. */
  const around = (text: string) => {
    const at = text.indexOf(own)
    const [head, tail] = [text.slice(0, at), text.slice(at + own.length)]
    return { head, tail, bytes: Buffer.byteLength(head + tail) }
  }

  /** What the header may say, the most first. */
  function* texts({ issuedAt, quote, recentBlockhash }: Moment): Generator<string, string> {
    const accepts = offersOf(asked, { quote, recentBlockhash, salt: placeholder })
    const textOf = (resource: object | undefined, extensions?: object) =>
      JSON.stringify({ x402Version: 2, error, resource, accepts, extensions })
    // The quote is issued in the second that ends; what is signed must not begin in the future.
    const signIn = options.signIn
      ? { "sign-in-with-x": signInExtension(signInFor(key, endpoint, issuedAt - 1000), endpoint.network) }
      : {}
    for (const extensions of [{ ...signIn, ...all }, { ...signIn, ...some }, signIn]) {
      for (const resource of resources) yield textOf(resource, extensions)
    }
    return textOf(resources.at(-1))
  }
  const required = (moment: Moment, room: number): string => {
    const candidates = texts(moment)
    let next = candidates.next()
    while (next.done !== true && encodedLength(next.value) > room) next = candidates.next()
    return next.value
  }
  /** The challenge of each salt. On Solana its request says the salt, too; elsewhere only its id does, and the rest is written once. */
  const challengeTexts = (moment: Moment): ((salt: string) => string | undefined) => {
    const asking = offersMpp ? challengesOf(key, asked, moment) : undefined
    const written = (salt: string) => asking && writeChallenge(asking(salt))
    if (methodOf(endpoint.network) === "solana") return written
    const shared = written(placeholder)?.split(`.${placeholder}"`)
    return (salt) => shared?.join(`.${salt}"`)
  }
  const body = ({ quote }: Occasion): string =>
    JSON.stringify({
      x402Version: 1,
      error,
      code: "PAYMENT_REQUIRED",
      accepts: v1Requirements(asked, { quote, salt: placeholder }),
      ...native,
      ...(offersMpp ? problem : {})
    })

  let last: { readonly name: string; readonly answer: (moment: Moment) => Demanded } | undefined
  return (moment) => {
    const name = `${moment.quote} ${moment.recentBlockhash}`
    if (last?.name === name) return last.answer(moment)
    const salted = JSON.stringify(svmMemo(moment.quote, placeholder))
    const before = parts(`${body(moment).slice(0, -1)},"payment_request_id":"`, salted)
    const challengeFor = challengeTexts(moment)
    const room = maxHeaders(error) - (challengeFor(moment.salt)?.length ?? 0)
    const header = parts(required(moment, room), salted)
    const fixed = header.length === 1 ? encode(header.join("")) : undefined
    let withIdentifier: ReadonlyArray<ReturnType<typeof around>> | undefined
    /** The header of a call to this address; undefined where something that clients use would have to go for it. */
    const headerAt = (url: string): ReadonlyArray<string> | undefined => {
      withIdentifier ??= [...texts(moment)].slice(0, 2 * resources.length).map(around)
      const written = JSON.stringify(url)
      const length = Buffer.byteLength(written)
      const fitting = withIdentifier.find(({ bytes }) => inBase64(bytes + length) <= room)
      return fitting && parts(fitting.head + written + fitting.tail, salted)
    }
    const answer = ({ quote, request, salt, url }: Moment): Demanded => {
      const memo = fixed === undefined ? JSON.stringify(svmMemo(quote, salt)) : ""
      const called = url === undefined ? undefined : headerAt(url)
      return {
        header: called === undefined && fixed !== undefined ? fixed : encode((called ?? header).join(memo)),
        challenge: challengeFor(salt),
        body: `${before.join(memo)}${request}"}`
      }
    }
    last = { name, answer }
    return answer(moment)
  }
}

const encode = (text: string): string => Buffer.from(text).toString("base64")
const inBase64 = (bytes: number): number => Math.ceil(bytes / 3) * 4
const encodedLength = (text: string): number => inBase64(Buffer.byteLength(text))
const parts = (text: string, between: string): ReadonlyArray<string> => text.split(between)
