import { DateTime, Duration, Effect, Option, Schema, Struct } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { longestTimeoutMs } from "#domain/Endpoint.ts"
import { cappedAt } from "#domain/EndpointPrice.ts"
import { originPath, parseGatewayTarget } from "#domain/GatewayPath.ts"
import { EndpointPaused, type OriginNotConfigured } from "#domain/GatewayRefusal.ts"
import { EndpointId, fromTypeId, PaymentId, type WalletId } from "#domain/Ids.ts"
import { later } from "#domain/Instant.ts"
import { formatDecimal } from "#domain/Money.ts"
import { agentOf } from "#domain/Ownership.ts"
import { Paid, type Pay, PaymentRequestInvalid, PriceAboveMaximum } from "#domain/Payment.ts"
import type { OriginForbiddenAddress } from "#domain/OriginUrl.ts"
import { differing, type PaymentTermsDiffer, termsOf } from "#domain/PaymentTerms.ts"
import { QuoteExpired } from "#domain/Quote.ts"
import { paymentIdOf, readRequest, type TokenKey, writeProof } from "#domain/PaymentToken.ts"
import type { IdempotencyClaim, Posted } from "#domain/Command.ts"
import type { HoldNotOpen, PostingRefused } from "#domain/PostingRefused.ts"
import { priceAt } from "#domain/Price.ts"
import type { Principal } from "#domain/Principal.ts"
import { goodAt } from "#domain/ScannerGoods.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { type Endpoints, type Snapshot, withoutOrigin } from "../Endpoints.ts"
import type { Ledger } from "../Ledger.ts"
import { newUuid } from "../NewId.ts"
import type { Wallets } from "../Wallets.ts"
import type { PaymentPolicy } from "./Policy.ts"
import { insertPayment, storedPayment } from "./Records.ts"

export type PayRefused =
  | InvalidRequest
  | NotFound
  | PaymentRequestInvalid
  | QuoteExpired
  | EndpointPaused
  | OriginNotConfigured
  | OriginForbiddenAddress
  | PriceAboveMaximum
  | PaymentTermsDiffer
  | Exclude<PostingRefused, HoldNotOpen>

/** What is paid for: found without the database, from the payment request itself or from the address. */
interface Order {
  readonly endpoint: EndpointId
  readonly method: string | undefined
  /** Nobody pays more than what was quoted. */
  readonly limit: bigint | undefined
  readonly paymentId: string
}

/** With the wallet that pays, named by the caller or its own. An agent pays a request once, whichever of its wallets would. */
type PayFrom = Pay & { readonly from_wallet_id: WalletId; readonly payer: string }

/** Reserves the money of a call. */
export const make = Effect.fnUntraced(function* (options: {
  readonly key: TokenKey
  readonly publicUrl: string
  readonly scannerUrl: string
  readonly policy: PaymentPolicy
  readonly ledger: Ledger["Service"]
  readonly endpoints: Endpoints["Service"]
  readonly wallets: Wallets["Service"]
}) {
  const { endpoints, key, ledger, policy, publicUrl, scannerUrl, wallets } = options
  const sql = yield* SqlClient.SqlClient
  // Outlives the last call that may begin with the proof, and its capture, whatever timeout its endpoint has by then. A proof that is
  // not used ends before, and a call whose process died with its lease: that is not left to the hold.
  const { leaseMargin, proofLife, uploadLife } = policy
  const longestHold = [leaseMargin, uploadLife, Duration.millis(longestTimeoutMs), Duration.seconds(15)].reduce(
    Duration.sum,
    proofLife
  )

  /** Where a call to this address would go. */
  const targetOf = (url: string) => {
    // An operation of ours that is for sale has a path of its own, at both addresses.
    const base = [scannerUrl, publicUrl].find((one) => url.startsWith(`${one}/`))
    const good = base === undefined ? undefined : goodAt(url.slice(base.length).split("?", 1)[0] ?? "")
    if (good !== undefined) return { endpoint: good.id, rest: "" }
    const target = url.startsWith(`${publicUrl}/`) ? parseGatewayTarget(url.slice(publicUrl.length)) : undefined
    const endpoint = target === undefined ? undefined : fromTypeId("epd", target.endpoint)
    return target === undefined || endpoint === undefined ? undefined : { endpoint, rest: target.rest }
  }

  /** What an agent pays from when it does not say: what fits the endpoint best. */
  const ownWallet = Effect.fnUntraced(function* (caller: Principal, { payment_request_id, url = "" }: Pay) {
    const agent = agentOf(caller)
    if (agent === undefined) return yield* unnamed
    const endpoint =
      payment_request_id === undefined ? targetOf(url)?.endpoint : readRequest(key, payment_request_id)?.endpoint
    const snapshot = endpoint === undefined ? null : yield* endpoints.directory.load(endpoint)
    const wallet = yield* wallets.firstOf(agent, snapshot?.endpoint ?? {})
    return wallet === undefined ? yield* unnamed : wallet.id
  })
  const paidFrom = Effect.fnUntraced(function* (caller: Principal, pay: Pay) {
    const { agent_id, id } = yield* wallets.own(caller, pay.from_wallet_id ?? (yield* ownWallet(caller, pay)))
    return { ...pay, from_wallet_id: id, payer: agent_id ?? id }
  })

  const order = Effect.fnUntraced(function* (pay: PayFrom) {
    if (pay.payment_request_id !== undefined) {
      const request = readRequest(key, pay.payment_request_id)
      if (request === undefined) return yield* new PaymentRequestInvalid({ reason: "unknown_payment_request" })
      const now = yield* DateTime.now
      const expires = DateTime.addDuration(DateTime.makeUnsafe(request.issuedAt), policy.requestLife)
      if (DateTime.isLessThan(expires, now)) return yield* new QuoteExpired({ expired_at: DateTime.formatIso(expires) })
      const paymentId = paymentIdOf(pay.payment_request_id, request.askedAt, pay.payer)
      return { endpoint: EndpointId.make(request.endpoint), method: request.method, limit: request.limit, paymentId }
    }
    const target = targetOf(pay.url ?? "")
    if (target === undefined) return yield* new PaymentRequestInvalid({ reason: "not_a_gateway_url" })
    const { endpoint } = target
    const snapshot = yield* endpoints.directory.load(endpoint)
    if (snapshot !== null && originPath(snapshot.endpoint.path, target.rest) === undefined) {
      return yield* new PaymentRequestInvalid({ reason: "not_a_gateway_url" })
    }
    return { endpoint: EndpointId.make(endpoint), method: undefined, limit: undefined, paymentId: newUuid() }
  })

  const payable = Effect.fnUntraced(function* (id: EndpointId) {
    const snapshot = yield* endpoints.directory.load(id)
    if (snapshot === null || snapshot.endpoint.status === "disabled") {
      return yield* new NotFound({ resource: "endpoint", id })
    }
    if (snapshot.endpoint.status === "paused") return yield* new EndpointPaused({ endpoint_id: id, retry_after: 60 })
    if (snapshot.origin === undefined && snapshot.isOurs !== true) return yield* withoutOrigin(snapshot)
    return snapshot
  })

  const priceFor = Effect.fnUntraced(function* (pay: PayFrom, { limit }: Order, { endpoint, price }: Snapshot) {
    const quoted = limit === undefined ? price : cappedAt(price, limit)
    const { max_amount } = pay
    if (max_amount === undefined) return quoted
    const { count } = yield* ledger.tally(endpoint.id, pay.from_wallet_id)
    const required = priceAt(quoted, count)
    if (required <= max_amount) return cappedAt(quoted, max_amount)
    return yield* new PriceAboveMaximum({
      required: formatDecimal(required),
      maximum: formatDecimal(max_amount),
      currency: endpoint.currency
    })
  })

  const kept = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ amount: Schema.BigInt, proof_expires_at: Schema.Date }),
    execute: (id) => sql`SELECT amount, proof_expires_at FROM payments WHERE id = ${id}`
  })

  /** A free call reserves nothing, so the ledger cannot tell whether it was paid before; its row can. */
  const terms = (posted: Posted) => {
    const [hold] = posted.movements
    return hold === undefined
      ? Effect.orDie(kept(posted.command_id))
      : Effect.succeed({ amount: hold.amount, proof_expires_at: expiry(posted.at) })
  }
  const expiry = (at: Date): Date => later(at, policy.proofLife)

  /** The first answer, from what was kept with its key. The proof is not kept, it is made again; nor is what the endpoint says. */
  const again = Effect.fnUntraced(function* (result: unknown) {
    const stored = yield* Effect.orDie(decodeKept(result))
    const snapshot = yield* endpoints.directory.load(stored.endpoint_id)
    if (snapshot === null) return yield* Effect.die(new NotFound({ resource: "endpoint", id: stored.endpoint_id }))
    const paid: Paid = { ...stored, proof: writeProof(key, stored.id), terms: termsOf(snapshot.endpoint) }
    return paid
  })

  const reserve = Effect.fnUntraced(function* (
    pay: PayFrom,
    wanted: Order,
    snapshot: Snapshot,
    idempotency: IdempotencyClaim | undefined
  ) {
    const { endpoint } = snapshot
    const price = yield* priceFor(pay, wanted, snapshot)
    const id = wanted.paymentId
    const now = yield* DateTime.now
    const paid = (posted: Posted, amount: bigint, expires_at: Date): Paid => ({
      id: PaymentId.make(posted.command_id),
      proof: writeProof(key, posted.command_id),
      amount,
      currency: endpoint.currency,
      endpoint_id: endpoint.id,
      terms: termsOf(endpoint),
      expires_at
    })
    const posted = yield* ledger.post({
      id,
      idempotency,
      result: (posted) => encodeKept(paid(posted, posted.movements[0]?.amount ?? 0n, expiry(posted.at))),
      steps: [
        {
          kind: "hold",
          hold: id,
          debit: pay.from_wallet_id,
          credit: endpoint.walletId,
          currency: endpoint.currency,
          price,
          tally: { scope: endpoint.id, subject: pay.from_wallet_id },
          expires_at: DateTime.toDate(DateTime.addDuration(now, longestHold)),
          code: "payment"
        }
      ],
      rows: (posted) => {
        const amount = posted.movements[0]?.amount ?? 0n
        return [
          insertPayment.of(
            storedPayment({
              id,
              tenant_id: endpoint.tenantId,
              endpoint_id: endpoint.id,
              protocol: "native",
              rail: "ledger",
              reservation: null,
              payer_id: pay.from_wallet_id,
              payer_address: null,
              payee_wallet_id: endpoint.walletId,
              method: wanted.method ?? endpoint.method,
              currency: endpoint.currency,
              network: endpoint.network,
              price,
              amount,
              state: "authorized",
              hold_id: amount === 0n ? null : id,
              lease_until: null,
              proof_expires_at: expiry(posted.at),
              request_fingerprint: null,
              created_at: posted.at,
              scheme: null
            })
          )
        ]
      }
    })
    // An address is paid under an id of its own: if that was posted before, the first answer was lost on its way from the database.
    const replayed = posted.replayed && (wanted.limit !== undefined || posted.command_id !== id)
    if (posted.result !== undefined && posted.replayed) return { paid: yield* again(posted.result), replayed }
    const { amount, proof_expires_at } = yield* terms(posted)
    return { paid: paid(posted, amount, proof_expires_at), replayed }
  })

  return Effect.fnUntraced(function* (caller: Principal, asked: Pay, idempotency?: IdempotencyClaim) {
    const pay: PayFrom = yield* paidFrom(caller, asked)
    const first = Effect.gen(function* () {
      const wanted = yield* order(pay)
      const snapshot = yield* payable(wanted.endpoint)
      const lie = differing(pay.terms ?? {}, termsOf(snapshot.endpoint))
      if (lie !== undefined) return yield* lie
      return yield* Effect.catchTag(reserve(pay, wanted, snapshot, idempotency), "HOLD_NOT_OPEN", Effect.die)
    })
    if (idempotency === undefined) return yield* first
    // What was answered under a key is answered again, also when it could not be done any more.
    return yield* Effect.catch(first, (refusal) =>
      Effect.flatMap(ledger.recall(idempotency), (known) =>
        Option.isNone(known)
          ? Effect.fail(refusal)
          : Effect.map(again(known.value), (paid) => ({ paid, replayed: true }))
      )
    )
  })
})

const unnamed = new InvalidRequest({ errors: [{ path: "from_wallet_id", message: "is needed" }] })

/** What is kept with an idempotency key. A proof is written nowhere: it is made from the payment's id again. */
const Kept = Schema.Struct(Struct.omit(Paid.fields, ["proof", "terms"]))
const encodeKept = Schema.encodeSync(Kept)
const decodeKept = Schema.decodeUnknownEffect(Kept)
