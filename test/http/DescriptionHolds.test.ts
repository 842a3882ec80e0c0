import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { contradictions, described, type JsonSchema, resolve } from "./Description.ts"
import { values } from "./Nonsense.ts"

type Json = ReturnType<typeof JSON.parse>

/** What somebody might send who has only read the description, beside nonsense. */
const likely: ReadonlyArray<Json> = [
  ..."a 0 0.00 0.10 0.000001 0.0000001 1.5 10.50 9223372036854.775807 10000000000000 USDC DE de /a /a/* /a/*/b /a?b a@b.example".split(
    " "
  ),
  ..."https://a.example 12:30 24:00 daily UTC Europe/Lisbon base-sepolia eip155:84532 account active".split(" "),
  ..."wal_01h455vb4pex5vsknk084sn02r WAL_01H455VB4PEX5VSKNK084SN02R wal_81h455vb4pex5vsknk084sn02r".split(" "),
  ..."acc_01h455vb4pex5vsknk084sn02r agt_01h455vb4pex5vsknk084sn02r tx_01h455vb4pex5vsknk084sn02r".split(" "),
  ..."01A2184F-f3ca-73a3-a53e-6c330150b34b 01a2184ff3ca73a3a53e6c330150b34b".split(" "),
  ..."2030-01-31T09:00:00Z 2030-01-31T09:00:00.123456789+01:00 2030-01-31T09:00:00 2030-01-31 2030-13-31T09:00:00Z".split(
    " "
  ),
  ..."2030-01-31T24:00:00Z 2030-01-31T23:59:60Z 2030-01-31t09:00:00z 2030-01-31T09:00:00+15:00".split(" "),
  ..."wallets:read wallets:all *:* * transfer.* transfer.created transfer".split(" "),
  ...[200, 201, 254, 255, 500, 501, 1000, 1001, 2000, 2001].map((length) => "x".repeat(length)),
  ..."11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURp=".split(" "),
  Buffer.alloc(64).toString("base64"),
  Buffer.alloc(63).toString("base64"),
  ...[["a"], ["a", "a"], ["*"], ["*", "*"], ["read"], ["wallets:read"], ["exact", "exact"], { a: "b" }],
  ...[0.00011, 2, 12, 61, 500, 999_999, 999_999.5]
]
const sent = [...likely, ...values.filter((value) => value.length < 10_000).map((value): Json => JSON.parse(value))]

/** What no schema of JSON says, by where it is or by what was sent. */
const unsaid = (at: string, value: Json): boolean => {
  const text = JSON.stringify(value)
  return (
    // Not text that JSON is exchanged in, NUL anywhere within metadata, and what depends on which header fields are our own.
    /\\ud[89a-f]/i.test(text) ||
    /\.(?:metadata|forwardHeaders)$/.test(at) ||
    // What is printed, by the tables of Unicode.
    (/idempotency_key$/.test(at) && /[\p{C}\p{Zl}\p{Zp}]/u.test(String(value))) ||
    // Days that no calendar has, places that no log has, countries that there are not.
    text.includes("2026-02-30") ||
    /cursor$/.test(at) ||
    (/country_code$/.test(at) && value !== "DE" && value !== "de") ||
    // More than the ledger holds in as many digits, and a number of too many decimals.
    value === 1e-7 ||
    (/amount|deposit|buffer/i.test(at) && /^"\d{13}"$/.test(text)) ||
    // Paths that could be read in two ways.
    (/\.path$/.test(at) && /\/\//.test(value))
  )
}

/** A number that is written otherwise than JSON writes it. */
const isOddNumber = (value: Json) => /^[+0]\d|^\d+e\d/i.test(String(value))

interface Place {
  readonly at: string
  readonly schema: JsonSchema
  /** The whole body with this there. */
  readonly body: (value: Json) => Json
}

const placesOf = (given: JsonSchema, good: Json, at = "$", body: Place["body"] = (value) => value): Array<Place> => {
  const { items, properties = {} } = resolve(given)
  const members = Object.entries(properties).flatMap(([name, schema]) => {
    const fields = Object.prototype.toString.call(good) === "[object Object]" ? good : {}
    return placesOf(schema, fields[name], `${at}.${name}`, (value) => body({ ...fields, [name]: value }))
  })
  const [first, ...rest] = Array.isArray(good) ? good : []
  const item =
    items === undefined || first === undefined ? [] : placesOf(items, first, `${at}[]`, (one) => body([one, ...rest]))
  return [{ at, schema: given, body }, ...members, ...item]
}

const takes = (schema: Schema.Top, value: Json) =>
  Result.isSuccess(Schema.decodeUnknownResult(schema as never)(value, { onExcessProperty: "error" }))

/** As text, and as what the text says where it says a number or whether. */
const readings = (text: string): ReadonlyArray<Json> => [
  text,
  ...(/^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false)$/.test(text) ? [JSON.parse(text)] : [])
]

it("what every schedule needs is described as required", () => {
  const { body } = described.find(({ id }) => id === "scheduled_transfers.create") ?? {}
  for (const field of ["from_wallet_id", "to_wallet_id", "amount", "currency"]) {
    const { [field]: _, ...lacking } = body?.example ?? {}
    assert.deepStrictEqual(contradictions(body?.schema ?? {}, lacking), [`$ has no ${field}`])
  }
})

describe("what the description takes is what the code takes", () => {
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const id = `${group.identifier}.${endpoint.identifier}`
      const { body, parameters } = described.find((one) => one.id === id)!
      const [payload] = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
      if (body !== undefined && payload !== undefined && group.identifier !== "sandbox") {
        it(`in the body of ${id}`, () => {
          const codec = Schema.toCodecJson(payload)
          const differing = placesOf(body.schema, body.example).flatMap(({ at, body: withIt }) =>
            sent
              .filter((value) => {
                const whole = JSON.parse(JSON.stringify(withIt(value)))
                const isDescribed = contradictions(body.schema, whole).length === 0
                return isDescribed !== takes(codec, whole) && !(isDescribed && unsaid(at, value))
              })
              .map((value) => `${at}: ${JSON.stringify(value).slice(0, 100)}`)
          )
          // Which of its two names the list has is looked at when it is read.
          const known = id === "scan_batches.create" ? ["$: {}"] : []
          assert.deepStrictEqual(
            differing.filter((one) => !known.includes(one)),
            []
          )
        })
      }
      const query = parameters.filter(({ in: place }) => place === "query")
      if (endpoint.query === undefined) return
      const codec = Schema.toCodecStringTree(endpoint.query as never) as Schema.Top
      const differing = (name: string, schema: JsonSchema) =>
        sent.filter((value) => {
          if (typeof value === "object" || isOddNumber(value)) return false
          const isDescribed = readings(String(value)).some((one) => contradictions(schema, one).length === 0)
          return isDescribed !== takes(codec, { [name]: String(value) }) && !(isDescribed && unsaid(name, value))
        })
      it(`in the query of ${id}`, () => {
        for (const { name, schema } of query) {
          assert.deepStrictEqual(differing(name, schema), [], name)
        }
      })
    }
  })
})
