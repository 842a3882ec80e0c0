import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fieldsOf, type Operation, operations } from "./Description.ts"
import { server } from "./GatewayHarness.ts"
import { everything, nobodys, seen } from "./Tables.ts"
import { world } from "./World.ts"

const words = (text: string) => text.split(/\s+/)

/** Fields by which a caller names something that only its own tenant has; World.ts has one of each. */
const private_ = new Set(
  words(
    `customer_reference owner_id accountId walletId from_wallet_id to_wallet_id transfer_id account_id batch_id quote_id stream_id
    endpoint_id`
  )
)
/** Fields that name something which whoever was told of it may use. */
const open = new Set(words("payment_request_id url proof"))
/** Fields by which the operator names any tenant; it sees them all, and nobody else is asked (Administration.test.ts). */
const operators = new Set(words("tenant_id"))
/** Fields that name nothing of anybody's: facts, choices, addresses of the outside, places in a list. */
const facts = new Set(
  words(`role password current_password expires_in include_revoked name type email country metadata scopes environment owner_type currency network address amount max_amount
    idempotency_key from_currency to_currency amount_side reason path method basePrice description volumeDiscounts webhookUrl originUrl timeoutMs rateLimit chargeOn schemes mpp
    forwardHeaders status page limit cursor offset terms x402Version paymentPayload paymentRequirements window
    reason_details amount_disputed evidence requested_resolution response counter_evidence resolution refund_amount cancel_mandate notes due_soon
    transfers memo scheduled_at frequency cron_expression interval day_of_month day_of_week time
    timezone start_at end_at max_occurrences retry_enabled max_retry_attempts retry_window_days
    generateKeypair publicKey skills walletNetwork walletAddress connected challenge signature
    flow_rate initial_deposit buffer created_after created_before
    events overlap_seconds event_type credits since until types only_failed
    domain merchant_name merchant_category country_code region skip_if_fresh test_type targets category min_score max_score`)
)
/** What all tenants share: whoever has the id of a scan or a test may read it. */
const corpus = new Set(words("scans.get shopping_tests.get scanner_reports.scan scanner_reports.test"))

const named = (operation: Operation) => [
  // Another spelling is read as the field that it stands for, before anything is looked up.
  ...Object.entries(fieldsOf(operation))
    .filter(([, { deprecated }]) => !deprecated)
    .map(([field]) => ({ operation, field, where: "body" as const })),
  ...operation.query.map((field) => ({ operation, field, where: "query" as const }))
]
const fields = operations.flatMap(named)
const withId = operations.filter(({ id, params }) => params.includes("id") && !corpus.has(id))
/** What anybody may ask about anybody's agent: only its key tells whether there is one. */
const claims = withId.filter(({ guarded }) => !guarded)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("another tenant", (it) => {
  it.effect("has every field of the description accounted for here", () =>
    Effect.sync(() => {
      for (const { field, operation } of fields) {
        const known = [private_, open, operators, facts].filter((set) => set.has(field)).length
        assert.strictEqual(known, 1, `say in this test whether "${field}" of ${operation.id} names a thing, and whose`)
      }
    })
  )

  for (const operation of withId.filter((one) => !claims.includes(one))) {
    it.effect(`${operation.id}: an id of somebody else's is as unknown as one of nobody's, and nothing changes`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const body = yield* mine.bodyOf(operation)
        const id = theirs.idOf(operation)
        const before = yield* everything
        const foreign = yield* mine.call(operation, { body, id })
        const absent = yield* mine.call(operation, { body, id: nobodys(id) })
        assert.deepStrictEqual([foreign.status, foreign.json.code], [404, "NOT_FOUND"])
        assert.deepStrictEqual(seen(foreign), seen(absent))
        assert.deepStrictEqual(yield* everything, before)
        assert.strictEqual(Math.floor((yield* mine.call(operation, { body })).status / 100), 2)
      })
    )
  }

  for (const operation of operations.filter(({ id }) => corpus.has(id))) {
    it.effect(`${operation.id}: says the same to everybody, and not who asked for it`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const [to, from] = [yield* mine.call(operation), yield* theirs.call(operation)]
        assert.deepStrictEqual([to.status, to.body], [200, from.body])
        for (const { principal, source } of [mine, theirs]) {
          for (const id of [principal.tenant_id, principal.account_id, source]) assert.notInclude(to.body, id)
        }
      })
    )
  }

  for (const operation of claims) {
    it.effect(`${operation.id}: an agent of somebody else's answers as one of nobody's, and nothing changes`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const body = yield* mine.bodyOf(operation)
        const id = theirs.idOf(operation)
        const before = yield* everything
        const answers = [
          seen(yield* mine.call(operation, { body, id })),
          seen(yield* mine.call(operation, { body, id: nobodys(id) }))
        ].map((answer) => ({ ...answer, body: { ...answer.body, challenge: "" } }))
        assert.include([200, 401], answers[0]?.status)
        assert.deepStrictEqual(answers[0], answers[1])
        assert.deepStrictEqual(yield* everything, before)
        assert.strictEqual(Math.floor((yield* mine.call(operation, { body })).status / 100), 2)
      })
    )
  }

  for (const { field, operation, where } of fields.filter((one) => private_.has(one.field))) {
    it.effect(`${operation.id}: ${field} of somebody else's finds nothing, and nothing changes`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const body = yield* mine.bodyFor(operation, field)
        const before = yield* everything
        const call = (id: string) =>
          where === "query"
            ? mine.call(operation, { query: `${field}=${id}` })
            : mine.call(operation, { body: { ...body, [field]: id } })
        const id = theirs.own[field]!
        const [foreign, absent] = [yield* call(id), yield* call(nobodys(id))]
        assert.deepStrictEqual(seen(foreign), seen(absent))
        if (where === "body") assert.deepStrictEqual([foreign.status, foreign.json.code], [404, "NOT_FOUND"])
        else assert.deepStrictEqual([foreign.status, foreign.json.data], [200, []])
        assert.deepStrictEqual(yield* everything, before)
        const own = yield* call(mine.own[field]!)
        assert.strictEqual(Math.floor(own.status / 100), 2, own.body)
        if (where === "query") assert.notDeepEqual(own.json.data, [])
      })
    )
  }

  for (const operation of operations.filter(({ guarded, id, method, params }) => {
    return guarded && method === "GET" && params.length === 0 && id !== "administration.tenants"
  })) {
    it.effect(`${operation.id}: shows nothing of somebody else's`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const answer = yield* mine.call(operation, operation.query.includes("limit") ? { query: "limit=100" } : {})
        assert.strictEqual(answer.status, 200)
        const { principal, source } = theirs
        for (const id of [...Object.values(theirs.ids), ...Object.values(theirs.own), principal.tenant_id, source]) {
          assert.notInclude(answer.body, id)
        }
      })
    )
  }
})
