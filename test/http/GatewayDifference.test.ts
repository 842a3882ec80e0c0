import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { headerValue, type RawHeaders } from "#domain/HttpHeaders.ts"
import { Deployment } from "#services/Deployment.ts"
import { Doctor } from "#services/Doctor.ts"
import { type Answered, answeredBy, type Asked, askedBy, exchange, type Got, origin, type Seen } from "./Exchanges.ts"
import { balance, pay, server } from "./GatewayHarness.ts"
import { randomOf } from "./Random.ts"
import { baseSeller, signer, signFor } from "./X402Harness.ts"

/** Set `FUZZ_SEED` for other exchanges than the same every time; `FUZZ_RUNS` is how many there are. */
const seed = Number(process.env["FUZZ_SEED"] ?? 1)
const runs = Number(process.env["FUZZ_RUNS"] ?? 100)

const price = 10_000n
const funds = 1_000_000_000n

/** docs/gateway.md says what becomes of them, or they are for one connection only. */
const changed =
  /^(?:connection|content-length|date|host|keep-alive|te|transfer-encoding|expect|via|vary|cache-control|payment-.*|x-payment-.*|x-forwarded-.*|x-request-id|x-environment|x-accel-buffering|access-control-.*)$/i
const unchanged = (fields: RawHeaders): ReadonlyArray<string> =>
  fields.flatMap((name, at) => (at % 2 === 0 && !changed.test(name) ? [`${name}: ${fields[at + 1]}`] : []))

const again: Answered = {
  status: 200,
  fields: [],
  body: Buffer.from("again"),
  framing: "length",
  pieces: 0,
  hints: false,
  breaks: false
}

/** Where an exchange through us differs from a direct one. */
const differences = (asked: Asked, [direct, ours]: [Got, Got], [theirs, seen]: ReadonlyArray<Seen>) => {
  const length = (fields: RawHeaders) => headerValue(fields, "content-length") ?? ""
  const pathOf = ({ line }: Seen) => line.slice(line.indexOf("/api"))
  const facts = {
    status: [direct.status, ours.status],
    "answer's fields": [unchanged(direct.fields), unchanged(ours.fields)],
    "answer's length": [length(direct.fields), length(ours.fields)],
    "answer's body": [direct.body.toString("latin1"), ours.body.toString("latin1")],
    target: [asked.path, seen && pathOf(seen).slice("/api".length)],
    "request's fields": [theirs && unchanged(theirs.fields), seen && unchanged(seen.fields)],
    // Of no bytes there are none, whether that is announced or said by the end of chunks.
    "request's length": [theirs && (length(theirs.fields) || "0"), seen && (length(seen.fields) || "0")],
    "request's body": [theirs?.body.toString("latin1"), seen?.body.toString("latin1")]
  }
  return Object.entries(facts)
    .filter(([, [one, other]]) => JSON.stringify(one) !== JSON.stringify(other))
    .map(([name, both]) => `${name}: ${both.map((one) => JSON.stringify(one).slice(0, 300)).join(" is not ")}`)
}

layer(server, { timeout: "60 seconds", excludeTestServices: true })("any exchange", (it) => {
  it.effect("is through us what it is without us, and is paid for once if it was answered", () =>
    Effect.gen(function* () {
      const { publicUrl } = yield* Deployment
      let answer = again
      const seen: Array<Seen> = []
      const listener = origin(
        () => answer,
        (request) => seen.push(request)
      )
      const shop = yield* baseSeller(listener, { path: "/api/*", method: "ANY" })
      const { account, key, purse } = yield* signer(funds)
      const left = Effect.map(balance(purse), ({ posted }) => posted)

      const payment = Effect.fnUntraced(function* (signed: boolean, { method, path }: Asked) {
        if (signed) return ["PAYMENT-SIGNATURE", (yield* signFor(account, shop.path + path, { method })).header]
        const { json } = yield* pay(key, { url: shop.endpoint.gatewayUrl + path, from_wallet_id: purse })
        return ["X-Payment-Proof", String(json.proof)]
      })

      for (let run = 0; run < runs; run++) {
        const random = randomOf(seed + run)
        const [asked, given, signed] = [askedBy(random), answeredBy(random), random() < 0.5]
        const message = `FUZZ_SEED=${seed + run} FUZZ_RUNS=1: ${JSON.stringify({ ...asked, body: asked.body.length })} ${JSON.stringify({ ...given, body: given.body.length })}`
        answer = given
        seen.length = 0
        const before = yield* left
        const direct = yield* Effect.promise(() => exchange(`${shop.backend.url}/api${asked.path}`, asked))
        const paid = yield* payment(signed, asked)
        const send = Effect.promise(() => exchange(publicUrl + shop.path + asked.path, asked, paid))
        const ours = yield* send
        const taken = before - (yield* left)
        if (direct.whole) {
          assert.deepStrictEqual(differences(asked, [direct, ours], seen), [], message)
          assert.strictEqual(taken, given.status < 400 ? price : 0n, message)
          assert.isTrue(ours.whole, message)
        } else if (ours.whole) {
          assert.strictEqual(ours.status, 502, message)
          assert.strictEqual(taken > 0n, headerValue(ours.fields, "payment-response") !== undefined, message)
        }
        // What broke without a byte of an answer may have been asked for once more.
        const times = seen.length
        assert.include(direct.status === 0 ? [2, 3] : [2], times, message)

        answer = again
        const second = yield* Effect.repeat(send, {
          until: ({ fields }) => headerValue(fields, "x-service-error") !== "PAYMENT_IN_PROGRESS"
        })
        assert.strictEqual(before - (yield* left), price, message)
        assert.strictEqual(seen.length, taken > 0n ? times : times + 1, message)
        if (taken === 0n) assert.strictEqual(second.status, 200, message)
        else if (second.status !== 409) assert.deepStrictEqual([second.status, second.body], [ours.status, ours.body])
      }
      const findings = yield* (yield* Doctor).examine
      assert.deepStrictEqual(
        findings.filter(({ broken }) => broken.length > 0),
        []
      )
      assert.strictEqual((yield* balance(purse)).held, 0n)
    })
  )
})
