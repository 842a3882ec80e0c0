import { Clock, Config, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import { caip2, Network, parseAddress } from "#domain/Network.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { v1Networks } from "#domain/protocol/X402Offers.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { AuthorizationRefused, type Kind, Rail, RailUnavailable } from "#services/Rail.ts"
import { monotonic } from "#services/RealTime.ts"
import * as RecentAnswers from "#services/RecentAnswers.ts"
import * as JsonHttp from "./Rail/JsonHttp.ts"
import { Witness } from "./RailEvm/Witness.ts"
import { refusals } from "./RailFacilitator/Refusals.ts"
import * as Setting from "./Setting.ts"

/** An x402 facilitator: its address, and what it wants to see in `Authorization`. */
export interface FacilitatorOptions {
  readonly url: URL
  readonly authorization: Option.Option<Redacted.Redacted>
}

/** `TURNPIKE_FACILITATOR_URL`, and `TURNPIKE_FACILITATOR_AUTHORIZATION` (the whole header, such as `Bearer …`). */
export const config = Config.all({
  url: Config.URL("TURNPIKE_FACILITATOR_URL"),
  authorization: Config.option(Setting.header("TURNPIKE_FACILITATOR_AUTHORIZATION"))
})

const quick = Duration.seconds(10)
// A facilitator waits for the chain before it answers.
const patient = Duration.seconds(50)
/** How long all of a settlement's questions may take: somewhat less than its caller waits, who learns nothing of what came later. */
const whole = Duration.seconds(55)

/** Somebody else's rail: any x402 facilitator by its address. With a `Witness` in the context, the chain has the last word. */
export const make = Effect.fnUntraced(function* ({ authorization: credential, url }: FacilitatorOptions) {
  const ask = JsonHttp.make(yield* PublicHttp)
  const clock = yield* Clock.Clock
  const headers = Option.isSome(credential) ? ["authorization", Redacted.value(credential.value)] : []
  const at = (path: string) => new URL(`${url.pathname.replace(/\/+$/, "")}/${path}`, url)
  const post = (path: string, authorization: Authorization, amount: bigint, timeout: Duration.Duration) =>
    ask({
      method: "POST",
      url: at(path),
      headers,
      timeout,
      body: {
        x402Version: 2,
        paymentPayload: authorization.payload,
        // Under `upto` this is where a facilitator reads how much to take.
        paymentRequirements: { ...authorization.requirements, amount: String(amount) }
      }
    })

  const supported = Effect.gen(function* () {
    const { body, status } = yield* ask({ method: "GET", url: at("supported"), headers, timeout: quick })
    const answer = decodeSupported(body)
    if (Option.isNone(answer)) return yield* rubbish("supported", status)
    const { kinds, signers } = answer.value
    return kinds.flatMap((kind) => kindOf(kind, signers ?? {}))
  })
  const kinds = yield* RecentAnswers.make(() => supported, { capacity: 1, longest: Duration.minutes(10) })

  const verify = Effect.fn("RailFacilitator.verify")(function* (authorization: Authorization) {
    const { body, status } = yield* post("verify", authorization, authorization.amount, quick)
    const answer = Option.getOrUndefined(decodeVerified(body))
    if (answer === undefined || status >= 500) return yield* rubbish("verify", status)
    if (!answer.isValid) {
      const reason = reasonIn(answer.invalidReason)
      if (reason === undefined) {
        yield* Effect.logWarning("A facilitator refused in words of its own", saidIn(answer.invalidReason))
      }
      return yield* new AuthorizationRefused({ reason: reason ?? "unexpected_verify_error" })
    }
    if (status >= 300) return yield* rubbish("verify", status)
  })

  const settle = Effect.fn("RailFacilitator.settle")(function* (settlement: Settlement, end: number) {
    const { amount, authorization } = settlement
    const asked = (timeout: Duration.Duration) => post("settle", authorization, amount, timeout)
    // Who asked for patience may have acted before, or have passed on what one behind him said who had.
    const first = yield* Effect.flatMap(asked(patient), (answer) =>
      concluded({ ...settlement, askedBefore: settlement.askedBefore || answer.repeated }, answer)
    )
    // As every client of a facilitator does: what it sent a moment ago may be in a block now.
    if (first._tag !== "Pending" || first.transaction === undefined) return first
    const left = Duration.millis(Math.max(0, end - monotonic(clock)))
    const again = { ...settlement, transaction: first.transaction, askedBefore: true }
    return yield* asked(left).pipe(
      Effect.flatMap((answer) => concluded(again, answer)),
      // The transaction is known all the same.
      Effect.catchTag("RAIL_UNAVAILABLE", () => Effect.succeed(first)),
      // Whoever has too many callers may ask for patience longer than that.
      Effect.timeoutOrElse({ duration: left, orElse: () => Effect.succeed(first) })
    )
  })

  const witness = yield* Effect.serviceOption(Witness)
  /** What the chain says; undefined when it cannot be read. */
  const seen = <A>(asked: Effect.Effect<A, RailUnavailable>) =>
    Effect.catchTag(asked, "RAIL_UNAVAILABLE", ({ reason }) =>
      Effect.as(Effect.logWarning("The chain could not be read", { reason }), undefined)
    )
  /** After a lost answer a facilitator finds the authorisation used and cannot say by whom; the chain can. */
  const settleOrLook = Effect.fnUntraced(function* (settlement: Settlement) {
    const end = monotonic(clock) + Duration.toMillis(whole)
    if (Option.isSome(witness) && settlement.askedBefore) {
      const known = yield* seen(witness.value.testify(settlement))
      if (known !== undefined) return known
    }
    const outcome = yield* settle(settlement, end)
    if (Option.isNone(witness)) return outcome
    if (outcome._tag === "Settled") {
      const { transaction } = outcome
      if (!(yield* seen(witness.value.contradicts(settlement, transaction)))) return outcome
      // The node may be behind, so it is not refused either: the next look begins with the chain.
      yield* Effect.logWarning("A facilitator says that it settled what the chain does not show", { transaction })
      return { _tag: "Pending", transaction: undefined } as const
    }
    if (outcome._tag === "Pending") return outcome
    // Whoever is asked twice by one of those in between, and sent the first time, may refuse the second for what he has done himself.
    if (!(yield* seen(witness.value.isUsed(settlement)))) return outcome
    yield* Effect.logWarning("A facilitator refused what has been used on the chain", { reason: outcome.reason })
    return { _tag: "Pending", transaction: undefined } as const
  })

  return Rail.of({
    kinds: kinds.get("kinds"),
    verify,
    settle: settleOrLook,
    // Facilitators have no question for what became of a payment; asked to settle it again, they look.
    status: settleOrLook
  })
})

export const layer = (options: FacilitatorOptions) => Layer.effect(Rail, make(options))

/** What is certain after this answer. Where nothing is, whoever runs the server is told why: it may be his to change. */
const concluded = (settlement: Settlement, { body, status }: JsonHttp.JsonAnswer) => {
  const outcome = judge(settlement, status, body)
  if (outcome._tag !== "Pending" || outcome.transaction !== undefined) return Effect.succeed(outcome)
  const said = { id: settlement.id, status, ...saidIn(Option.getOrUndefined(decodeSettled(body))?.errorReason) }
  return Effect.as(Effect.logWarning("A facilitator's answer to /settle decides nothing", said), outcome)
}

/**
 * What an answer to `/settle` says for certain. A refusal counts only when nothing can have been sent: the facilitator names no
 * transaction, refused for something it checks before it sends, and was not asked before.
 */
export const judge = (settlement: Settlement, status: number, body: unknown): Outcome => {
  const { askedBefore, authorization } = settlement
  const { network } = authorization
  const unknown: Outcome = { _tag: "Pending", transaction: settlement.transaction }
  const answer = Option.getOrUndefined(decodeSettled(body))
  if (answer === undefined) return unknown
  const about = (answer.payer ?? "") === "" ? authorization.payer : payerIn(network, answer.payer)
  // Some speak of networks as version 1 does, which has names of its own for those where money is real.
  const where = answer.network == null || [caip2[network], v1Networks[network], network].includes(answer.network)
  // An answer about something else is no answer.
  if (about !== authorization.payer || !where) return unknown
  const transaction = transactionIn(network, answer.transaction)
  if (answer.success) {
    const amountFits = answer.amount == null || String(answer.amount) === String(settlement.amount)
    if (status < 300 && transaction !== undefined && amountFits) return { _tag: "Settled", transaction }
    return { _tag: "Pending", transaction: transaction ?? settlement.transaction }
  }
  if (transaction !== undefined) return { _tag: "Pending", transaction }
  const reason = reasonIn(answer.errorReason)
  const nothingSent = status < 500 && !askedBefore && (answer.transaction ?? "") === ""
  return reason !== undefined && nothingSent && refusals.has(reason) ? { _tag: "Refused", reason } : unknown
}

/** For the log, which anything may stand in. */
const saidIn = (text: string | null | undefined) => ({ reason: text?.slice(0, 120) })

const reasonIn = (text: string | null | undefined): string | undefined =>
  text != null && /^\w{1,120}$/.test(text) ? text : undefined

/** Who copies an address may write its letters in another case than its checksum has, and it is the same on Base. */
const payerIn = (network: Network, text: string | null | undefined): string | undefined =>
  text == null ? undefined : parseAddress(network, network.startsWith("solana-") ? text : text.toLowerCase())

const transactionIn = (network: Network, text: string | null | undefined): string | undefined => {
  if (text == null) return undefined
  if (network.startsWith("solana-")) return /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(text) ? text : undefined
  // Python writes a hash without 0x, and so does the facilitator of x402 in that language.
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text) ?? []
  return digits && `0x${digits}`
}

const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

const decodeVerified = Schema.decodeUnknownOption(
  Schema.Struct({ isValid: Schema.Boolean, invalidReason: maybe(Schema.String) })
)
const decodeSettled = Schema.decodeUnknownOption(
  Schema.Struct({
    success: Schema.Boolean,
    transaction: maybe(Schema.String),
    network: maybe(Schema.String),
    payer: maybe(Schema.String),
    amount: maybe(Schema.Union([Schema.String, Schema.Finite])),
    errorReason: maybe(Schema.String)
  })
)
const decodeSupported = Schema.decodeUnknownOption(
  Schema.Struct({
    kinds: Schema.Array(Schema.Unknown),
    signers: maybe(Schema.Record(Schema.String, Schema.Unknown))
  })
)
const decodeKind = Schema.decodeUnknownOption(
  Schema.Struct({
    x402Version: Schema.Literal(2),
    scheme: Schema.Literals(["exact", "upto"]),
    network: Network,
    extra: maybe(Schema.Record(Schema.String, Schema.Unknown))
  })
)

type Signers = Readonly<Record<string, unknown>>

/** A kind we know; facilitators support more. */
const kindOf = (kind: unknown, signers: Signers): ReadonlyArray<Kind> =>
  Option.match(decodeKind(kind), {
    onNone: () => [],
    onSome: ({ extra, network, scheme }) => [
      { network, scheme, extra: extra ?? {}, signers: signersOn(network, signers) }
    ]
  })

/** Listed under the network, or under all of its family. */
const signersOn = (network: Network, signers: Signers): ReadonlyArray<string> => {
  const name = caip2[network]
  return [name, name.replace(/:.*/, ":*")]
    .flatMap((key) => signers[key])
    .flatMap((text) => (typeof text === "string" ? (parseAddress(network, text) ?? []) : []))
}

const rubbish = (path: string, status: number) =>
  new RailUnavailable({ reason: `the facilitator's answer to /${path} (${status}) makes no sense` })
