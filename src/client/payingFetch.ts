import { type Asset, knownAssets, knownNetworks, networkName } from "./Asset.ts"
import { type Attempts, attempts } from "./Attempts.ts"
import { discard, peekJson, readBounded } from "./Body.ts"
import { cap, type Caps, memoryStore, type Reservation, reserve, type SpendingStore } from "./Budget.ts"
import { type Json, parseJson, quoted, readHeader } from "./Encoding.ts"
import type { Means, Offer, Payable, Payment } from "./Means.ts"
import { formatDecimal, parseDecimal } from "./Micros.ts"
import { PaymentError, type PaymentErrorCode } from "./PaymentError.ts"
import { type Receipt, receiptOf } from "./Receipt.ts"
import { type Signer, signerMeans } from "./SignerMeans.ts"
import { backoff, orAborted, pause, retryAfter } from "./Time.ts"
import { type Calling, calling, type CallingOptions, transport, type TransportOptions } from "./Transport.ts"
import { TurnpikeError } from "./TurnpikeError.ts"
import { walletMeans } from "./WalletMeans.ts"

/** A payment that was shown to a server. */
export interface Spent {
  readonly offer: Offer
  readonly paymentId: string | undefined
  /** What was counted against the caps, as a decimal: what was charged, or the most that may have been. */
  readonly amount: string
  readonly receipt: Receipt | undefined
}

interface Rules {
  /** The most that one call may cost, a decimal string; "1.00" when left out. */
  readonly maxPerCall?: string | undefined
  /** The most that all calls of a day (UTC) may cost, per currency; "10.00" when left out. */
  readonly maxPerDay?: string | undefined
  /** Where today's spending is counted; a memory of this `fetch` alone when left out. */
  readonly store?: SpendingStore | undefined
  /** The networks to pay on, such as `["base-sepolia"]`; all known ones when left out. */
  readonly networks?: ReadonlyArray<string> | undefined
  /** Asked before anything is paid, after the caps; anything but true refuses. */
  readonly approve?: ((offer: Offer) => boolean | PromiseLike<boolean>) | undefined
  /** Told of every payment that was shown. What it throws is ignored: an answer that is paid for is not lost over it. */
  readonly onPayment?: ((spent: Spent) => void | PromiseLike<void>) | undefined
}

/** Pay from a wallet of a Turnpike. The key is sent to `baseUrl` only. */
export interface WalletPaying extends Rules, TransportOptions {
  readonly apiKey: string
  /** `wal_…`. */
  readonly wallet: string
  readonly signer?: undefined
}

/** Pay with a key of your own, by x402. */
export interface SignerPaying extends Rules, CallingOptions {
  readonly signer: Signer
  /** Tokens to pay with besides USDC and EURC on Base; they must have 6 decimals. */
  readonly assets?: ReadonlyArray<Asset> | undefined
  /** A Turnpike whose word is taken when it says that nothing was charged; otherwise every signature given away counts. */
  readonly baseUrl?: string | undefined
}

export type PayingFetchOptions = WalletPaying | SignerPaying

interface Settings extends Calling {
  readonly means: Means
  readonly caps: Caps
  readonly rules: Rules
}

const settingsOf = (options: PayingFetchOptions): Settings => {
  const { maxPerCall = "1.00", maxPerDay = "10.00", store = memoryStore() } = options
  const caps = { perCall: cap("maxPerCall", maxPerCall), perDay: cap("maxPerDay", maxPerDay), store }
  const networks = options.networks?.map(networkName)
  if (options.signer) {
    const { assets = [], baseUrl, signer } = options
    const means = signerMeans({
      signer,
      assets: [...knownAssets, ...assets],
      networks: networks ?? [...knownNetworks, ...assets.map((asset) => networkName(asset.network))],
      believed: baseUrl === undefined ? undefined : new URL(baseUrl).origin
    })
    return { ...calling(options), means, caps, rules: options }
  }
  const calls = transport(options)
  const means = walletMeans({ wallet: options.wallet, transport: calls, networks: networks ?? knownNetworks })
  return { ...calls, means, caps, rules: options }
}

/**
 * A `fetch` that pays: a 402 within the caps is paid, and the call made again with the proof. One call pays at most once.
 * Throws `PaymentError` where it does not pay, and what `fetch` throws otherwise.
 */
export const payingFetch = (options: PayingFetchOptions): typeof fetch => {
  const settings = settingsOf(options)
  return async (input, init) => {
    const call = attempts(settings.fetch, input, init ?? {})
    try {
      const first = await call.send()
      return first.status !== 402 || call.isPaidAlready ? first : await pay(settings, call, first)
    } finally {
      call.end()
    }
  }
}

const pay = async (settings: Settings, call: Attempts, first: Response): Promise<Response> => {
  const { caps, rules } = settings
  const { signal } = call
  const url = placeToPay(call, first)
  const payable = await read(settings, call, url, first)
  const { micros, offer } = payable
  const reserving = reserve(caps, micros, offer.currency)
  try {
    await orAborted(reserving, signal)
    if (rules.approve && (await orAborted(rules.approve(offer), signal)) !== true) {
      throw new PaymentError("NOT_APPROVED", `${offer.amount} ${offer.currency} was not approved`)
    }
    const { free, payment } = await paid(settings, call, payable)
    if (!payment) return free
    return await show(settings, call, { url, money: await reserving, payable, payment })
  } finally {
    // What was shown to a server is settled by now: this is for what ended before.
    const settled = reserving.then((money) => money.settle(0n))
    await orAborted(settled, signal).catch(() => undefined)
  }
}

/** Money is paid to the host that was called, for a request that can be sent again. */
const placeToPay = (call: Attempts, first: Response): string => {
  const refuse = (code: PaymentErrorCode, message: string) => {
    discard(first.body)
    return new PaymentError(code, message)
  }
  if (call.isOnce) throw refuse("BODY_NOT_REPLAYABLE", "A stream cannot be sent again")
  const url = first.redirected ? first.url : call.url
  const moved = new URL(url).origin !== new URL(call.url).origin || !["GET", "HEAD"].includes(call.method)
  if (first.redirected && moved) throw refuse("REDIRECTED", `It is ${url} that asks for money: call that`)
  return url
}

const read = async (settings: Settings, call: Attempts, url: string, response: Response): Promise<Payable> => {
  const { method, signal } = call
  const text = await readBounded(response, signal, settings.timeoutMs)
  if (text === undefined) throw new PaymentError("INVALID_CHALLENGE", "The 402 is too long, or does not end")
  const challenge = { url, method, body: parseJson(text), headers: response.headers }
  return settings.means.read(challenge, settings.caps.perCall)
}

type Paid =
  | { readonly payment: Payment; readonly free?: undefined }
  | { readonly payment?: undefined; readonly free: Response }

/**
 * Pays. A quote that expired meanwhile (somebody took long to approve it) is asked for again, and paid if it is the same; or
 * the call turns out to be free by now.
 */
const paid = async (settings: Settings, call: Attempts, payable: Payable): Promise<Paid> => {
  try {
    return { payment: await payable.pay(call.signal) }
  } catch (error) {
    const cause = error instanceof PaymentError ? error.cause : undefined
    if (!(cause instanceof TurnpikeError && cause.code === "QUOTE_EXPIRED")) throw error
  }
  const again = await call.send()
  if (again.status !== 402) return { free: again }
  const renewed = await read(settings, call, payable.offer.url, again)
  refuseChange(payable, renewed)
  return { payment: await renewed.pay(call.signal) }
}

const refuseChange = (before: Payable, after: Payable) => {
  const was: Json = { ...before.offer }
  const is: Json = { ...after.offer }
  const changed = Object.keys(is).find((name) => was[name] !== is[name])
  if (changed === undefined) return
  const message = `The ${changed} was ${quoted(was[changed])} and is now ${quoted(is[changed])}`
  throw new PaymentError("PRICE_CHANGED", message, { details: { before: was, after: is } })
}

interface Showing {
  readonly url: string
  readonly money: Reservation
  readonly payable: Payable
  readonly payment: Payment
}

/** Shows the proof until there is an answer; always the same proof, so that however often it arrives it is one payment. */
const show = async (settings: Settings, call: Attempts, showing: Showing): Promise<Response> => {
  const { maxRetryDelayMs, retries } = settings
  const { money, payable, payment } = showing
  const details = { paymentId: payment.paymentId }
  // What nobody has seen nobody takes. Once it is shown all of it may be taken, until an answer says otherwise.
  let charged = 0n
  // Whether an attempt before may have been charged.
  let isOpen = false
  let receipt: Receipt | undefined
  try {
    for (let attempt = 1; ; attempt++) {
      call.signal?.throwIfAborted()
      charged = payment.micros
      const last = attempt > retries
      const answer = await call.sendPaid(showing.url, payment.headers).catch((cause: unknown) => {
        call.signal?.throwIfAborted()
        if (!last) return undefined
        throw new PaymentError("OUTCOME_UNKNOWN", "It was paid for, and no answer came", { details, cause })
      })
      // Browsers show neither where it leads nor what was charged for it.
      if (answer?.type === "opaqueredirect") {
        throw new PaymentError("PAID_REDIRECT", "It was paid for, and its redirect cannot be read", { details })
      }
      if (!answer) isOpen = true
      else {
        const isFree = isBelieved(settings.means, answer) && tookNothing(answer)
        if (last || !isPassing(answer, maxRetryDelayMs)) {
          // What this attempt did not take, one before it may have taken.
          charged = (await statedBy(settings, call, answer)) ?? (isFree && !isOpen ? 0n : charged)
          if (charged > payment.micros) charged = payment.micros
          receipt = receiptOf(answer)
          if (answer.status === 402) throw await notAccepted(settings, call, payable, answer)
          return answer
        }
        isOpen ||= !isFree
        discard(answer.body)
      }
      const asked = answer && retryAfter(answer)
      await pause(backoff(attempt, asked, maxRetryDelayMs), call.signal)
    }
  } finally {
    // An answer that is paid for is not lost over the bookkeeping.
    await orAborted(money.settle(charged), call.signal).catch(() => undefined)
    const { offer } = payable
    if (charged > 0n) {
      tell(settings.rules, { ...details, offer, amount: formatDecimal(charged), receipt })
    }
  }
}

const tell = ({ onPayment }: Rules, spent: Spent) => {
  Promise.resolve(spent)
    .then(onPayment)
    .catch(() => undefined)
}

/** The code of a refusal that is the gateway's own: what an origin answers cannot have this header. */
const codeOf = ({ headers }: Response) => headers.get("x-service-error")

/**
 * Worth showing the same proof again: another attempt is still under way, or somebody behind the gateway is in trouble, and
 * not for longer than a caller waits.
 */
const isPassing = (answer: Response, patience: number): boolean => {
  const { status } = answer
  if (status === 409) return codeOf(answer) === "PAYMENT_IN_PROGRESS"
  return status >= 502 && status <= 504 && !receiptOf(answer) && (retryAfter(answer) ?? 0) <= patience
}

const isBelieved = ({ believed }: Means, { url }: Response): boolean => url.startsWith(`${believed}/`)

/**
 * Whether a Turnpike says that this attempt took nothing: it asks for money, passes on what it did not charge, or refuses the call
 * for what the request, the endpoint or the origin is. Other refusals leave that open, and so does what is not its own word: what
 * stands before it and lost its answer does not know.
 */
const tookNothing = (answer: Response): boolean => {
  const { headers, status } = answer
  if (receiptOf(answer)) return false
  const code = codeOf(answer)
  if (code !== null) return (status < 500 && status !== 409) || /^(ENDPOINT|ORIGIN)_/.test(code)
  return headers.has("payment-required") || headers.get("x-payment-amount") === "0.00"
}

/** What a Turnpike says the payment cost, whichever attempt took it; undefined when it does not say. */
const statedBy = async ({ means, timeoutMs }: Settings, { signal }: Attempts, answer: Response) => {
  if (!isBelieved(means, answer)) return undefined
  const receipt = receiptOf(answer)
  if (receipt || codeOf(answer) !== "PAYMENT_ALREADY_USED") return parseDecimal(receipt?.amount)
  return parseDecimal(Object((await peekJson(answer, signal, timeoutMs))?.["details"]).charged)
}

/** The server asked for money again; it has had its chance. */
const notAccepted = async (
  settings: Settings,
  call: Attempts,
  payable: Payable,
  answer: Response
): Promise<PaymentError> => {
  const settled = readHeader(answer.headers.get("payment-response"))
  const required = readHeader(answer.headers.get("payment-required"))
  const again = await read(settings, call, payable.offer.url, answer).catch((error: unknown) => {
    call.signal?.throwIfAborted()
    return error
  })
  const reason = quoted(settled?.["errorReason"]) || quoted(required?.["error"]) || "no reason given"
  const { offer: after } = Object(again)
  return new PaymentError("PAYMENT_NOT_ACCEPTED", `The server did not accept the payment: ${reason}`, {
    details: { reason, before: payable.offer, after }
  })
}
