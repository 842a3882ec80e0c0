import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Agent } from "#domain/Agent.ts"
import { BatchStatus } from "#domain/Batch.ts"
import { Dispute } from "#domain/Dispute.ts"
import { PublicKey } from "#domain/Ed25519.ts"
import { Endpoint } from "#domain/Endpoint.ts"
import { EventType } from "#domain/Event.ts"
import { catalogue, exampleData } from "#domain/EventExamples.ts"
import { AgentId, AuthKeyId, BatchId, EventId, TenantTypeId } from "#domain/Ids.ts"
import { Currency, Micros } from "#domain/Money.ts"
import { AlertSeverity, MoneyStream } from "#domain/MoneyStream.ts"
import { Payment } from "#domain/Payment.ts"
import { Refund } from "#domain/Refund.ts"
import { ScanFact, TestFact } from "#domain/ScanFacts.ts"
import { ScheduledTransfer } from "#domain/Schedule.ts"
import { Transfer } from "#domain/Transfer.ts"
import { Webhook } from "#domain/Webhook.ts"

const alert = Schema.Struct({ severity: AlertSeverity, runway_seconds: MoneyStream.fields.runway_seconds })
/** What `batch.completed` carries: the batch without its items, and what it moved. */
const batch = Schema.Struct({
  id: BatchId,
  batch_id: BatchId,
  total: Schema.Int,
  completed: Schema.Int,
  failed: Schema.Int,
  replayed: Schema.Int,
  status: BatchStatus,
  amounts: Schema.Array(Schema.Struct({ currency: Currency, completed: Micros, failed: Micros })),
  created_at: Schema.DateFromString
})

/** What the data of a real event is made by, from the most special type to the most general family. */
const records: ReadonlyArray<readonly [family: string, data: Schema.Struct.Fields]> = [
  ["transfer.", { transfer: Transfer }],
  ["batch.", { batch }],
  ["scheduled_transfer.", { scheduled_transfer: ScheduledTransfer }],
  ["refund.", { refund: Refund }],
  ["dispute.", { dispute: Dispute }],
  ["stream.alert", { stream: MoneyStream, alert }],
  ["stream.", { stream: MoneyStream }],
  ["x402.payment.", { payment: Payment }],
  ["x402.endpoint.", { endpoint: Endpoint }],
  ["scan.", { scan: ScanFact }],
  ["test.", { test: TestFact }],
  ["agent.key_rotated", { agent_id: AgentId, key_id: AuthKeyId, new_public_key: PublicKey }],
  ["agent.", { agent: Agent }],
  ["webhook.", { webhook: Webhook }]
]
/** The keys of things that nothing makes a fact of. */
const others: Readonly<Record<string, string>> = {
  "approval.": "approval",
  "a2a.task.": "task",
  "ucp.token.": "token"
}
const strict = { errors: "all", onExcessProperty: "error" } as const

describe("the example of", () => {
  for (const type of EventType.literals) {
    const record = records.find(([family]) => type.startsWith(family))
    if (record !== undefined) {
      it(`${type} is what a real one carries`, () => {
        const wire = Schema.toCodecJson(Schema.Struct(record[1]))
        const decoded = Schema.decodeUnknownSync(wire as never, strict)(exampleData(type))
        assert.deepStrictEqual(Schema.encodeSync(wire as never)(decoded), exampleData(type))
      })
    } else {
      it(`${type} has the thing under its own key`, () => {
        const key = Object.entries(others).find(([family]) => type.startsWith(family))?.[1] ?? ""
        assert.hasAllKeys(exampleData(type), [key])
        assert.property(exampleData(type)[key], "id")
      })
    }
  }
})

describe("the catalogue", () => {
  it("has every type once, with a sentence and the body of such an event", () => {
    assert.deepStrictEqual(
      catalogue.map(({ type }) => type),
      [...EventType.literals]
    )
    const Body = Schema.Struct({
      id: EventId,
      type: EventType,
      created_at: Schema.DateFromString,
      data: Schema.Record(Schema.String, Schema.Json),
      tenant_id: TenantTypeId,
      environment: Schema.Literal("test")
    })
    for (const { description, example, type } of catalogue) {
      assert.match(description, /^[A-Z].{10,}\.$/, type)
      const body = Schema.decodeUnknownSync(Schema.toCodecJson(Body), strict)(example)
      assert.deepStrictEqual([body.type, body.data], [type, exampleData(type)])
    }
  })

  it("says of the types that no code speaks of that they are reserved, and of no other", () => {
    const code = ["../../services/", "../../src/domain/"].flatMap((folder) => {
      const root = new URL(folder, import.meta.url)
      const names = readdirSync(root, { recursive: true, encoding: "utf8" })
      return names
        .filter((name) => /\.ts$/.test(name) && !/^(?:Event|EventExamples|Channel)\.ts$/.test(name))
        .map((name) => new URL(name, root))
    })
    const text = code.map((file) => readFileSync(file, "utf8")).join("\n")
    for (const { description, type } of catalogue) {
      assert.strictEqual(
        description.includes("Reserved: nothing raises it in this version."),
        !text.includes(type),
        type
      )
    }
  })

  it("shows no secret", () => {
    assert.notMatch(JSON.stringify(catalogue), /whsec_|pk_test_|sess_|pp_/)
  })
})
