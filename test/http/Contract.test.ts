import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { newUuid } from "#services/NewId.ts"
import { codecs, decodes } from "./Codecs.ts"
import {
  contradictions,
  described,
  type Operation,
  operations,
  postedOf,
  resolve,
  untoldHeaders
} from "./Description.ts"
import { type Answer, send, server } from "./GatewayHarness.ts"
import { world } from "./World.ts"

const problemJson = "application/problem+json"
const isSuccess = (status: string | number) => String(status).startsWith("2")

describe("the description", () => {
  for (const { body, description, id, parameters, responses, summary } of described) {
    it(`of ${id} says what it does and shows what goes in and what comes out`, () => {
      assert.match(summary, /^\S.{5,80}$/)
      assert.notMatch(summary, /\.$/)
      assert.match(description, /^\S.{20,}/)
      const { answers, bodies } = codecs.get(id)!
      if (body !== undefined) {
        assert.isNotEmpty(bodies)
        assert.deepStrictEqual(contradictions(body.schema, body.example), [])
        for (const schema of bodies) decodes(schema, body.example)
      }
      for (const { name, schema } of parameters) {
        assert.notDeepEqual(schema, {}, name)
        if (["page", "limit"].includes(name)) assert.strictEqual(schema.type, "integer", name)
      }
      const shown = Object.entries(responses).filter(([status]) => isSuccess(status))
      assert.strictEqual(shown.length, 1)
      for (const media of shown.flatMap(([, content]) => Object.values(content))) {
        assert.isDefined(media.example, "the answer has no example")
        assert.deepStrictEqual(contradictions(media.schema, media.example), [])
        for (const schema of answers) decodes(schema, media.example)
      }
    })
  }
})

describe("the numbers of a query", () => {
  for (const { id, parameters } of described) {
    const { query } = codecs.get(id)!
    if (query === undefined) continue
    const takes = (name: string, value: unknown) =>
      Result.isSuccess(Schema.decodeUnknownResult(Schema.toCodecStringTree(query) as never)({ [name]: String(value) }))
    const numbers = parameters.filter(({ name }) => takes(name, 1) && !takes(name, "x"))
    if (numbers.length === 0) continue
    it(`of ${id} are described as numbers, in the range that is taken`, () => {
      for (const { name, schema } of numbers) {
        assert.strictEqual(schema.type, "integer", name)
        const { maximum = Number.NaN, minimum = Number.NaN } = schema
        const taken = [minimum - 1, minimum, maximum, maximum + 1].map((value) => takes(name, value))
        assert.deepStrictEqual(taken, [false, true, true, false], name)
      }
    })
  }
})

it("metadata and other objects of the caller's own making are described as open", () => {
  for (const [id, field] of [
    ["wallets.create", "metadata"],
    ["accounts.create", "metadata"],
    ["agents.create", "metadata"],
    ["facilitator.verify", "paymentPayload"]
  ] as const) {
    const { body } = described.find((one) => one.id === id) ?? {}
    const schema = resolve(body?.schema ?? {}).properties?.[field] ?? {}
    assert.deepInclude(resolve(schema), { type: "object", additionalProperties: true }, id)
  }
})

it("lists say what is in them, also where that may be anything", () => {
  const [request = {}] = described.find(({ id }) => id === "sandbox.solanaRpc")?.body?.schema.anyOf ?? []
  assert.isDefined(resolve(request).properties?.["params"]?.items)
})

describe("what the code refuses", () => {
  const weather = { name: "Weather", path: "/a", method: "GET" }
  const refused: ReadonlyArray<readonly [id: string, body: object, fields: object]> = [
    ["transfers.create", {}, { amount: 1_000_000_000, buffer: 1_000_000_000 }],
    ["endpoints.create", weather, { name: "", path: "a" }],
    ["endpoints.create", weather, { path: "/*/a", basePrice: 0.0001 }],
    ["endpoints.create", weather, { path: "/a?b", basePrice: 999_999.000001 }],
    ["endpoints.update", {}, { name: " ", basePrice: 0.0001 }],
    ["wallets.create", {}, { name: "" }],
    ["accounts.create", { name: "x" }, { email: "x", country: "de" }],
    ["api_keys.create", { name: "x", scopes: ["x402:*"] }, { scopes: ["x403:*"] }],
    ["users.create", { email: "a@b.example", role: "member", password: "x".repeat(12) }, { password: "x".repeat(11) }],
    ["users.update", {}, { password: "\u{1f600}".repeat(11) }]
  ]
  for (const [id, body, fields] of refused) {
    for (const [field, value] of Object.entries(fields)) {
      it(`as ${field} of ${id} the description refuses as well: ${JSON.stringify(value)}`, () => {
        const schema = described.find((one) => one.id === id)?.body?.schema ?? {}
        assert.deepStrictEqual(contradictions(schema, body), [])
        assert.isNotEmpty(contradictions(schema, { ...body, [field]: value }))
        const taken = Schema.toCodecJson(codecs.get(id)!.bodies[0]!)
        assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(taken as never)({ ...body, [field]: value })))
      })
    }
  }
})

it("records may grow, and what is sent has the described fields alone", () => {
  for (const { body, id, responses } of described) {
    const { properties } = resolve(body?.schema ?? {})
    if (properties !== undefined) assert.isFalse(resolve(body!.schema).additionalProperties, id)
    for (const { schema } of Object.values(responses).flatMap((content) => Object.values(content))) {
      for (const one of [schema, ...(schema.anyOf ?? [])]) {
        const { additionalProperties, required = [] } = resolve(one)
        if (required.length > 0) assert.notStrictEqual(additionalProperties, false, id)
      }
    }
  }
})

/** Bodies in which every field that has another spelling is written in it. */
const spelledOtherwise: Readonly<Record<string, object>> = {
  "agents.create": {
    name: "Buyer",
    parent_account_id: newUuid(),
    generate_keypair: true,
    public_key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    wallet_network: "base-sepolia",
    wallet_address: "0x70f4000000000000000000000000000000000000"
  },
  "agents.createKey": { public_key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=" },
  "agent_sessions.rotateKey": {
    proof: Buffer.alloc(64).toString("base64"),
    public_key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
  },
  "scan_batches.create": { domains: [{ domain: "shop.example.com" }] },
  "refunds.create": { originalTransferId: newUuid(), reason: "customer_request", reasonDetails: "Ordered twice" },
  "disputes.create": {
    transferId: newUuid(),
    reason: "service_not_received",
    description: "It never came",
    amountDisputed: "2.50",
    requestedResolution: "full_refund"
  },
  "disputes.respond": { response: "It did", counterEvidence: [] },
  "disputes.resolve": { resolution: "partial_refund", refundAmount: "1.50", cancelMandate: false }
}

describe("other spellings", () => {
  for (const { body, id } of described) {
    const { properties = {} } = resolve(body?.schema ?? {})
    const others = Object.keys(properties).filter((name) => properties[name]?.deprecated)
    const sent = spelledOtherwise[id]
    if (others.length === 0 && sent === undefined) continue
    it(`of ${id} are what the description takes and the code takes`, () => {
      assert.deepStrictEqual(
        others.filter((name) => !(name in (sent ?? {}))),
        []
      )
      assert.isNotEmpty(others)
      assert.deepStrictEqual(contradictions(body?.schema ?? {}, sent), [])
      for (const schema of codecs.get(id)!.bodies) decodes(schema, sent)
    })
  }

  it("that are one of a list or of several kinds have it by name: generators of clients would give two of them one name", () => {
    for (const { body, id } of described) {
      const { properties = {} } = resolve(body?.schema ?? {})
      const spellings = Map.groupBy(Object.keys(properties), (name) => name.replaceAll("_", "").toLowerCase())
      for (const names of [...spellings.values()].filter(({ length }) => length > 1)) {
        for (const name of names) assert.doesNotHaveAnyKeys(Object(properties[name]), ["enum", "anyOf"], id)
      }
    }
  })

  for (const [id, field, other] of [
    ["refunds.create", "transfer_id", "originalTransferId"],
    ["disputes.create", "transfer_id", "transferId"],
    ["scan_batches.create", "targets", "domains"]
  ] as const) {
    it(`of ${id} are needed where ${field} is not sent`, () => {
      const schema = described.find((one) => one.id === id)?.body?.schema ?? {}
      const { [other]: value, ...rest }: Record<string, unknown> = { ...spelledOtherwise[id] }
      assert.isNotEmpty(contradictions(schema, rest))
      assert.deepStrictEqual(contradictions(schema, { ...rest, [field]: value }), [])
    })
  }
})

/** What in an answer contradicts what is promised for the operation. */
const broken = (operation: Operation, { body, headers, json, status }: Answer): ReadonlyArray<string> => {
  const content = operation.responses[status]
  if (content === undefined) return [`${status} is not described: ${body}`]
  const untold = untoldHeaders(operation, status, headers)
  if (untold.length > 0) return untold
  const [type = ""] = (headers["content-type"] ?? "").split(";")
  if (Object.keys(content).length === 0) return body === "" ? [] : ["an answer without body has one"]
  const media = content[type]
  return media === undefined ? [`${status} is ${type}`] : contradictions(media.schema, json ?? body)
}

/** Operations in an order in which each finds what it is about: what takes things away comes last. */
const story = [...operations].sort(
  (left, right) => Number(left.method === "DELETE") - Number(right.method === "DELETE")
)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the answers", (it) => {
  it.effect("of a story through all operations are what the description promises", () =>
    Effect.gen(function* () {
      const teller = yield* world
      for (const operation of story) {
        const answer = yield* teller.call(operation)
        assert.isTrue(isSuccess(answer.status), `${operation.id}: ${answer.status} ${answer.body}`)
        assert.deepStrictEqual(broken(operation, answer), [], operation.id)
        for (const schema of codecs.get(operation.id)!.answers)
          if (answer.body !== "") decodes(schema, answer.json ?? answer.body)
      }
      // The lists again, now that there is something in each.
      for (const operation of story.filter(({ method }) => method === "GET")) {
        assert.deepStrictEqual(broken(operation, yield* teller.call(operation)), [], operation.id)
      }
      const sql = yield* SqlClient.SqlClient
      const facts = yield* sql<{ type: string; data: object }>`SELECT type, data FROM events`
      assert.isAbove(new Set(facts.map(({ type }) => type)).size, 15)
      for (const { data, type } of facts) {
        const posted = resolve(postedOf(type).schema).properties?.["data"] ?? {}
        assert.deepStrictEqual(contradictions(posted, data), [], type)
      }
    })
  )

  const attempts: ReadonlyArray<
    readonly [number, (operation: Operation) => boolean, object | ((operation: Operation) => object)]
  > = [
    // Whoever logs out by the cookie is not asked for a token.
    [401, ({ guarded, id }) => guarded && id !== "sessions.end", { headers: { authorization: "" } }],
    [401, ({ guarded, id }) => guarded && id !== "sessions.end", { headers: { authorization: "Basic x" } }],
    // Who has to prove first who it is does not learn whether there is such an agent.
    [404, ({ guarded, params }) => guarded && params.includes("id"), { id: newUuid() }],
    [404, ({ params }) => params.includes("id"), { id: "nonsense" }],
    [404, ({ id }) => ["scans.freshest", "scans.history"].includes(id), { id: "unheard-of.com" }],
    [422, ({ params }) => params.includes("domain"), { id: "nonsense" }],
    [403, ({ query }) => query.includes("signature"), { query: "signature=wrong" }],
    [400, ({ body }) => body !== undefined, { body: { "no such field": 1 } }],
    [400, ({ body }) => body !== undefined, { body: "{" }],
    [415, ({ body }) => body !== undefined, { body: "x", headers: { "content-type": "text/plain" } }],
    [413, ({ body }) => body !== undefined, { body: `"${"x".repeat(1_048_577)}"` }],
    [400, ({ query }) => query.includes("limit"), { query: "limit=0" }],
    [400, ({ query }) => query.includes("cursor"), { query: "cursor=x" }],
    [
      422,
      ({ body }) => resolve(body?.schema ?? {}).properties?.["amount"] !== undefined,
      ({ body }) => ({ body: { ...body?.example, amount: "-1" } })
    ]
  ]
  it.effect("to what is wrong are the refusals that the description promises", () =>
    Effect.gen(function* () {
      const teller = yield* world
      for (const [status, applies, request] of attempts) {
        assert.isNotEmpty(operations.filter(applies))
        for (const operation of operations.filter(applies)) {
          const answer = yield* teller.call(operation, typeof request === "function" ? request(operation) : request)
          assert.strictEqual(answer.status, status, `${operation.id}: ${answer.body}`)
          assert.deepStrictEqual(broken(operation, answer), [], operation.id)
        }
      }
    })
  )

  it.effect("that refuse are problems with one code each, and the catalogue explains every code", () =>
    Effect.gen(function* () {
      const catalogue = (yield* send("/docs/errors")).body
      for (const { id, responses } of operations.filter(({ guarded }) => guarded)) {
        for (const [status, content] of Object.entries(responses).filter(([status]) => !isSuccess(status))) {
          // What is sold makes an offer to whoever has no key, beside or instead of refusing.
          const types = Object.keys(content).filter((type) => status !== "402" || type !== "application/json")
          if (status === "402" && types.length === 0) continue
          assert.deepStrictEqual(types, [problemJson], `${id} ${status}`)
          const { schema } = content[problemJson]!
          for (const one of schema.anyOf ?? [schema]) {
            const { properties = {} } = resolve(one)
            assert.deepStrictEqual(properties["status"]?.enum, [Number(status)], `${id} ${status}`)
            assert.strictEqual(properties["code"]?.enum?.length, 1, `${id} ${status}`)
            assert.include(catalogue, `<tr id="${properties["code"]?.enum?.[0]}">`, id)
          }
        }
      }
    })
  )
})
