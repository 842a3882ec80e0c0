import { Effect, Option, Schedule, Schema } from "effect"
import { request as nodeRequest } from "node:http"
import type { Endpoint } from "#domain/Endpoint.ts"
import type { EndpointTest, TestStep } from "#domain/EndpointTest.ts"
import { isOwnGood } from "#domain/GatewayPath.ts"
import { isEventStream } from "#domain/HttpHeaders.ts"
import type { EndpointId, PaymentId } from "#domain/Ids.ts"
import { Amount, formatDecimal } from "#domain/Money.ts"
import type { Principal } from "#domain/Principal.ts"
import { Forbidden } from "#domain/Refusal.ts"
import { faucetLimit } from "#domain/Wallet.ts"
import { Deployment } from "#services/Deployment.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { Payments } from "#services/Payments.ts"
import { monotonicMillis } from "#services/RealTime.ts"
import { Wallets } from "#services/Wallets.ts"

type Step = EndpointTest["steps"][number]

/** A step went wrong, and this is what the owner of the endpoint should read. */
class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", {
  http_status: Schema.NullOr(Schema.Int),
  detail: Schema.String
}) {}

const failed = (detail: string, http_status: number | null = null) => new StepFailed({ http_status, detail })

const Challenge = Schema.fromJsonString(
  Schema.Struct({ price: Amount, payment_request_id: Schema.String, currency: Schema.String, network: Schema.String })
)
const readChallenge = Schema.decodeUnknownEffect(Challenge)

/** What the gateway says of an endpoint that does not serve, or of an origin that failed. */
const Failure = Schema.fromJsonString(
  Schema.Struct({
    code: Schema.String,
    title: Schema.String,
    details: Schema.optionalKey(Schema.Struct({ reason: Schema.optionalKey(Schema.String) }))
  })
)
const readFailure = Schema.decodeUnknownOption(Failure)

interface Reply {
  readonly status: number
  readonly headers: NodeJS.Dict<string | Array<string>>
  readonly body: string
  /** Whether it is a stream of events, which may never end: its first bytes are enough. */
  readonly begun: boolean
}

const steps: ReadonlyArray<TestStep> = ["fund", "discover", "pay", "call", "verify"]

/** An agent that owns nothing but a throwaway wallet, and calls an endpoint through this server's own gateway. */
export const make = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const { publicUrl, scannerUrl } = yield* Deployment
  const endpoints = yield* Endpoints
  const wallets = yield* Wallets
  const payments = yield* Payments

  /** What a proxy takes off an address: there is none between us and ourselves. */
  const baseOf = (endpoint: Endpoint) => (isOwnGood(endpoint) ? scannerUrl : publicUrl)

  /**
   * A request to ourselves, over a socket like anybody's. The body is read up to 64 KiB. The connection stays until the scope ends,
   * because a caller who leaves a stream before it is charged does not pay.
   */
  const call = Effect.fnUntraced(function* (endpoint: Endpoint, headers: Record<string, string>) {
    const address = server.address()
    const target = typeof address === "object" && address !== null ? { host: address.address, port: address.port } : {}
    const method = endpoint.method === "ANY" ? "GET" : endpoint.method
    const path = endpoint.gatewayUrl.slice(baseOf(endpoint).length)
    const outgoing = yield* Effect.acquireRelease(
      Effect.sync(() => nodeRequest({ ...target, method, path, headers, agent: false })),
      (request) => Effect.sync(() => request.destroy())
    )
    let status: number | null = null
    return yield* Effect.callback<Reply, StepFailed>((resume) => {
      outgoing.once("response", (reply) => {
        status = reply.statusCode ?? null
        const chunks: Array<Buffer> = []
        let size = 0
        const done = (begun: boolean) => {
          const body = Buffer.concat(chunks).toString()
          resume(Effect.succeed({ status: reply.statusCode ?? 0, headers: reply.headers, body, begun }))
        }
        const isStream = isEventStream(reply.rawHeaders)
        reply.on("data", (chunk: Buffer) => {
          size += chunk.length
          if (size <= 65_536) chunks.push(chunk)
          if (isStream) done(true)
        })
        reply.once("end", () => done(false))
        reply.on("error", () => resume(Effect.fail(failed("the answer broke off", status))))
      })
      outgoing.on("error", (error) => resume(Effect.fail(failed(`the gateway did not answer: ${error.message}`))))
      outgoing.end()
    }).pipe(
      Effect.timeoutOrElse({
        duration: endpoint.timeoutMs + 15_000,
        orElse: () => Effect.fail(failed("the answer did not end in time", status))
      })
    )
  })

  /** Frozen when the scope ends: it would be what an account without another is paid in, and what its batches are paid from. */
  const throwaway = Effect.fnUntraced(function* (caller: Principal, { currency, name: tested, network }: Endpoint) {
    const name = [...`Test of ${tested}`].slice(0, 255).join("")
    return yield* Effect.acquireRelease(wallets.create(caller, { currency, network, name }), ({ id }) =>
      Effect.catchCause(wallets.freeze(caller, id, "the test run is over"), (cause) =>
        Effect.logWarning("The wallet of a test run could not be frozen", cause)
      )
    )
  })

  const fund = Effect.fnUntraced(function* (caller: Principal, endpoint: Endpoint) {
    const { currency } = endpoint
    const wallet = yield* throwaway(caller, endpoint)
    for (let rest = endpoint.basePrice; rest > 0n; rest -= faucetLimit) {
      yield* wallets.fund(caller, wallet.id, { amount: rest < faucetLimit ? rest : faucetLimit, currency })
    }
    return { wallet, detail: `${formatDecimal(endpoint.basePrice)} ${currency} in a new wallet` }
  })

  const discover = Effect.fnUntraced(function* (endpoint: Endpoint) {
    const reply = yield* call(endpoint, {})
    if (reply.status !== 402) return yield* failed(`expected 402, got ${reply.status}: ${excerpt(reply)}`, reply.status)
    const challenge = yield* Effect.mapError(readChallenge(reply.body), () => failed("the 402 has no price", 402))
    const { currency, network, price } = challenge
    return { challenge, http_status: 402, detail: `${formatDecimal(price)} ${currency} on ${network}` }
  })

  const use = Effect.fnUntraced(function* (endpoint: Endpoint, proof: string) {
    const reply = yield* call(endpoint, { "x-payment-proof": proof })
    const { status } = reply
    if (typeof reply.headers["payment-response"] !== "string") {
      return yield* failed(`the call was not charged; status ${status}: ${excerpt(reply)}`, status)
    }
    const detail = `the origin answered ${status}${reply.begun ? " and began a stream of events" : ""}`
    return { http_status: status, detail }
  })

  const verify = Effect.fnUntraced(function* (proof: string, currency: string) {
    const look = payments.verify(proof)
    const isDecided = ({ payment }: Effect.Success<typeof look>) => payment?.state !== "in_flight"
    // What ended is charged. A stream of events is charged while it begins.
    const { payment } = yield* look.pipe(
      Effect.repeat({ until: isDecided, schedule: Schedule.spaced("20 millis") }),
      Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => look })
    )
    if (payment?.state !== "captured")
      return yield* failed(`the payment is ${payment?.state ?? "unknown"}, not captured`)
    return { detail: `${formatDecimal(payment.charged ?? 0n)} ${currency} charged` }
  })

  return Effect.fn("SimulatedAgent.test")(function* (caller: Principal, id: EndpointId) {
    const endpoint = yield* endpoints.get(caller, id)
    if (caller.environment !== "sandbox") return yield* new Forbidden({ reason: "test runs are for the sandbox" })
    const began = yield* monotonicMillis
    const done: Array<Step> = []
    let paymentId: PaymentId | null = null

    const step = Effect.fnUntraced(function* <
      A extends { readonly detail: string; readonly http_status?: number },
      E extends { readonly _tag: string },
      R
    >(name: TestStep, effect: Effect.Effect<A, E, R>) {
      const start = yield* monotonicMillis
      const result = yield* Effect.result(effect)
      const duration_ms = Math.round((yield* monotonicMillis) - start)
      if (result._tag === "Failure") {
        const { failure } = result
        const { detail, http_status } = failure instanceof StepFailed ? failure : failed(failure._tag)
        done.push({ step: name, status: "failed", duration_ms, http_status, detail })
        return yield* failed(detail, http_status)
      }
      const { detail, http_status = null } = result.success
      done.push({ step: name, status: "passed", duration_ms, http_status, detail })
      return result.success
    })

    const run = Effect.gen(function* () {
      const { wallet } = yield* step("fund", fund(caller, endpoint))
      const { challenge } = yield* step("discover", discover(endpoint))
      const { paid } = yield* step(
        "pay",
        Effect.map(
          payments.pay(caller, { payment_request_id: challenge.payment_request_id, from_wallet_id: wallet.id }),
          ({ paid }) => ({ paid, detail: `${formatDecimal(paid.amount)} ${paid.currency} reserved` })
        )
      )
      paymentId = paid.id
      yield* step("call", use(endpoint, paid.proof))
      yield* step("verify", verify(paid.proof, endpoint.currency))
    })
    const outcome = yield* Effect.result(Effect.scoped(run))
    const ended = yield* monotonicMillis
    const skipped = steps
      .slice(done.length)
      .map((name): Step => ({ step: name, status: "skipped", duration_ms: 0, http_status: null, detail: "" }))
    return {
      status: outcome._tag === "Success" ? "passed" : "failed",
      endpointId: endpoint.id,
      paymentId,
      duration_ms: Math.round(ended - began),
      steps: [...done, ...skipped]
    } satisfies EndpointTest
  })
})

const excerpt = ({ body }: Reply): string =>
  Option.match(readFailure(body), {
    onNone: () => body.slice(0, 200).toWellFormed().replace(/\s+/g, " "),
    onSome: ({ code, details, title }) =>
      `${code}${details?.reason === undefined ? "" : ` (${details.reason})`}: ${title}`
  })
