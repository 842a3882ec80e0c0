import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Config, Console, Duration, Effect, FileSystem, Layer, Ref, Schedule, Schema } from "effect"
import { CliError, Command } from "effect/cli"
import {
  HttpClient,
  HttpClientRequest,
  HttpRouter,
  HttpServer,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { ChildProcess } from "effect/process"
import { createServer } from "node:http"
import { join } from "node:path"
import { Api } from "#api/Api.ts"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal, unit } from "#domain/Money.ts"
import * as CredentialsFile from "#layers/CredentialsFile.ts"
import * as Node from "#layers/Node.ts"

/** One paid call and one transfer across currencies, step by step, against the running server or, when none runs, a fresh one that ends with the demo. */

const network = "base-sepolia"
const usdc = (micros: bigint) => `${formatDecimal(micros)} USDC`

/** Why there is nothing to show. */
class DemoImpossible extends Schema.TaggedError<DemoImpossible>()("DemoImpossible", { message: Schema.String }) {}

/** The credentials of the server that answers here and is ready; fails when there is none. */
const ready = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const text = yield* files.readFileString(yield* CredentialsFile.path)
  const found = yield* Schema.decodeEffect(Schema.fromJsonString(CredentialsFile.Contents))(text)
  const { status } = yield* HttpClient.get(`${found.base_url}/health/ready`)
  return status === 200 ? found : yield* Effect.fail("not ready" as const)
})

/** The same, of a server that is starting as soon as it is ready: a second one could not have its directory. */
const running = Effect.retry(ready, {
  while: (reason) => reason === "not ready",
  schedule: Schedule.spaced("100 millis"),
  times: 600
})

/** A server of the demo's own, that may call the customer's API wherever its database is. */
const started = Effect.fnUntraced(function* (customer: string) {
  yield* Console.log("No Turnpike runs here: the demo starts one of its own, and stops it at the end.")
  const allowed = yield* Config.String("TURNPIKE_ALLOW_HOSTS").pipe(
    Config.map((hosts) => [hosts]),
    Config.withDefault([])
  )
  const server = yield* ChildProcess.make(
    process.execPath,
    [...process.execArgv, join(import.meta.dirname, "main.ts")],
    {
      env: { PORT: "0", TURNPIKE_ALLOW_HOSTS: [...allowed, new URL(customer).host].join(",") },
      extendEnv: true,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "inherit",
      killSignal: "SIGTERM"
    }
  )
  const died = Effect.flatMap(
    server.exitCode,
    (code) =>
      new DemoImpossible({
        message: `the server that it started has ended (exit code ${code}); what it said is above.`
      })
  )
  return yield* Effect.retry(ready, Schedule.spaced("100 millis")).pipe(
    Effect.raceFirst(died),
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => new DemoImpossible({ message: "the server that it started is not ready after 60 seconds." })
    })
  )
})

/** The customer's own API: it knows nothing of payments. */
const origin = Effect.gen(function* () {
  const calls = yield* Ref.make(0)
  const weather = HttpRouter.add(
    "GET",
    "/weather",
    Effect.gen(function* () {
      yield* Ref.update(calls, (count) => count + 1)
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      return yield* HttpServerResponse.json({ city: "Lisbon", celsius: 24, paid_by: headers["x-payment-payer"] })
    })
  )
  const context = yield* Layer.build(
    HttpRouter.serve(weather, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { host: "127.0.0.1", port: 0 }))
    )
  )
  const { address } = yield* Effect.provide(HttpServer.HttpServer, context)
  return { url: HttpServer.formatAddress(address), calls }
})

const paidCycle = Effect.gen(function* () {
  const customer = yield* origin
  const server = yield* Effect.catch(running, () => started(customer.url))
  if (server.environment === "live") {
    return yield* new DemoImpossible({ message: `${server.base_url} takes real money, and the demo makes its own.` })
  }
  const api = yield* HttpApiClient.make(Api, {
    baseUrl: server.base_url,
    transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(server.api_key))
  })
  yield* Console.log(
    `\nTurnpike at ${server.base_url}; the customer's API at ${customer.url} knows nothing of payments.\n`
  )

  const number = yield* Ref.make(0)
  const step = Effect.fnUntraced(function* <A, E, R>(
    title: string,
    work: Effect.Effect<A, E, R>,
    show: (result: A) => string
  ) {
    const [took, result] = yield* Effect.timed(work)
    const place = String(yield* Ref.updateAndGet(number, (count) => count + 1)).padStart(2)
    const time = `${Duration.toMillis(took).toFixed(1)} ms`.padStart(9)
    yield* Console.log(`${place}  ${title.padEnd(46)}${time}   ${show(result)}`)
    return result
  })

  const owner = { owner_type: "account", owner_id: server.account_id, currency: "USDC", network } as const
  const revenue = yield* step(
    "The customer opens a receiving wallet",
    api.wallets.create({ headers: {}, payload: { ...owner, name: "Demo revenue" } }),
    ({ id }) => toTypeId("wal", id)
  )
  const endpoint = yield* step(
    "and puts a price on GET /weather",
    api.endpoints
      .create({
        headers: {},
        payload: {
          name: "Weather",
          path: "/weather",
          method: "GET",
          accountId: server.account_id,
          basePrice: 10_000n,
          currency: "USDC",
          network,
          originUrl: customer.url,
          walletId: revenue.id
        }
      })
      .pipe(
        Effect.catchTag(
          "ORIGIN_NOT_ALLOWED",
          () =>
            new DemoImpossible({
              message:
                `${server.base_url} calls no API on this machine, as a sandbox over DATABASE_URL does not. Stop it, or ` +
                `give the demo a TURNPIKE_DATA_DIR of its own.`
            })
        )
      ),
    ({ gatewayUrl }) => gatewayUrl
  )
  const wallet = yield* step(
    "An agent gets a wallet",
    api.wallets.create({ headers: {}, payload: { ...owner, name: "Demo agent" } }),
    ({ id }) => toTypeId("wal", id)
  )
  yield* step(
    "filled by the sandbox's faucet",
    api.wallets.fund({ params: { id: wallet.id }, headers: {}, payload: { amount: unit, currency: "USDC" } }),
    (funding) => `balance ${usdc(funding.wallet.balance_available)}`
  )
  const quote = yield* step(
    "It calls the gateway without paying",
    Effect.flatMap(HttpClient.get(endpoint.gatewayUrl), (response) =>
      Effect.map(Effect.flatMap(response.json, Schema.decodeUnknownEffect(Quote)), (body) => ({
        ...body,
        status: response.status
      }))
    ),
    ({ currency, price, status }) => `${status} Payment Required: ${price} ${currency}`
  )
  const payment = yield* step(
    "pays: the money is held, not moved",
    api.payments.pay({
      headers: {},
      payload: { payment_request_id: quote.payment_request_id, from_wallet_id: wallet.id }
    }),
    ({ amount, id }) => `${toTypeId("pay", id)}, ${usdc(amount)}`
  )
  const retry = HttpClientRequest.get(endpoint.gatewayUrl).pipe(
    HttpClientRequest.setHeader("x-payment-proof", payment.proof),
    HttpClient.execute,
    Effect.flatMap((response) => Effect.map(response.text, (text) => ({ status: response.status, text })))
  )
  yield* step("and calls again with the proof", retry, ({ status, text }) => `${status} ${text}`)
  yield* step("The same proof buys nothing twice", retry, ({ status }) => `${status}, and the API is not called`)
  yield* step("The agent has paid once", api.wallets.get({ params: { id: wallet.id } }), ({ balance_available }) =>
    usdc(balance_available)
  )
  yield* step(
    "and the customer has the money",
    api.wallets.get({ params: { id: revenue.id } }),
    ({ balance_available }) => usdc(balance_available)
  )
  yield* Console.log(`\nThe API was called ${yield* Ref.get(customer.calls)} time.\n`)

  const abroad = yield* step(
    "A partner in Europe opens a wallet for EURC",
    api.wallets.create({
      headers: {},
      payload: { ...owner, currency: "EURC", network: "solana-devnet", name: "Demo partner" }
    }),
    ({ id }) => toTypeId("wal", id)
  )
  const offer = yield* step(
    "The agent asks what half a dollar is there",
    api.quotes.create({
      headers: {},
      payload: { from_currency: "USDC", to_currency: "EURC", amount: unit / 2n }
    }),
    ({ expires_in, fee, rate, receive_amount }) =>
      `${formatDecimal(receive_amount)} EURC at ${rate}, fee ${usdc(fee)}, for ${expires_in} s`
  )
  const transfer = yield* step(
    "and sends it: the money is held",
    api.transfers.create({
      headers: {},
      payload: { type: "cross_border", from_wallet_id: wallet.id, to_wallet_id: abroad.id, quote_id: offer.id }
    }),
    ({ id, status }) => `${toTypeId("tx", id)}, ${status}`
  )
  const now = api.transfers.get({ params: { id: transfer.id } })
  const reached = (reaches: (status: typeof transfer.status) => boolean) =>
    Effect.repeat(now, { until: ({ status }) => reaches(status), schedule: Schedule.spaced("50 millis") })
  yield* step(
    "until it is submitted it could be cancelled",
    reached((status) => status !== "pending"),
    ({ status }) => status
  )
  yield* step(
    "The sandbox settles it within 2 to 5 seconds",
    reached((status) => status !== "pending" && status !== "processing"),
    ({ status }) => status
  )
  yield* step(
    "and the partner has the money",
    api.wallets.get({ params: { id: abroad.id } }),
    ({ balance_available }) => `${formatDecimal(balance_available)} EURC`
  )
})

/** What the demo reads of a 402. */
const Quote = Schema.Struct({ price: Schema.String, currency: Schema.String, payment_request_id: Schema.String })

// Whoever reads it may leave before the end; the server that it started is stopped all the same.
process.stdout.on("error", () => undefined)

Command.make("demo", {}, () => Effect.scoped(paidCycle)).pipe(
  Command.withDescription(
    "One paid call and one transfer across currencies, step by step, against the server that runs here"
  ),
  Command.run({ version: "0.1.0" }),
  Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici)),
  Effect.tapCause((cause) =>
    // Its own words about a wrong call are written already.
    Cause.hasInterruptsOnly(cause) || CliError.isCliError(Cause.squash(cause))
      ? Effect.void
      : Console.error(`\nThe demo cannot run: ${Node.reasonOf(cause)}`)
  ),
  Node.runMain
)
