import { assert, describe, it } from "@effect/vitest"
import { DateTime, Exit, Result, Schema } from "effect"
import { EventType } from "#domain/Event.ts"
import { WebhookId } from "#domain/Ids.ts"
import type { OriginRules } from "#domain/OriginUrl.ts"
import {
  changed,
  CreateWebhook,
  eventPatterns,
  maxEvents,
  patternsOf,
  receiverUrl,
  RotateWebhookSecret,
  type Webhook
} from "#domain/Webhook.ts"

const rules: OriginRules = { allowHosts: [], allowLoopback: false, ownHosts: ["pay.example.org"] }
const sandbox = { ...rules, allowLoopback: true }
const listed = { ...rules, allowHosts: ["10.1.2.3:9000", "hooks.internal:80"] }
const url = (given: string, by = rules) => {
  const found = receiverUrl(given, by)
  return Result.isSuccess(found) ? found.success : found.failure
}

describe("the address of a receiver", () => {
  for (const [given, kept] of [
    ["https://example.com/hooks?a=1", "https://example.com/hooks?a=1"],
    ["https://example.com", "https://example.com/"],
    ["HTTPS://EXAMPLE.com:443/x", "https://example.com/x"],
    ["https://1.1.1.1/", "https://1.1.1.1/"]
  ] as const) {
    it(`may be ${given}`, () => assert.strictEqual(url(given), kept))
  }

  for (const [given, refusal] of [
    [`https://example.com/${"a".repeat(2029)}`, "TooLong"],
    [`https://example.com/${"ä".repeat(1000)}`, "TooLong"],
    ["example.com/hooks", "NotAUrl"],
    ["/hooks", "NotAUrl"],
    ["", "NotAUrl"],
    ["ftp://example.com/", "SchemeNotAllowed"],
    ["http://example.com/hooks", "SchemeNotAllowed"],
    ["https://user:secret@example.com/", "UserInfo"],
    ["https://user@example.com/", "UserInfo"],
    ["https://example.com/#part", "Fragment"],
    ["https://example.com/#", "Fragment"],
    ["https://pay.example.org/hooks", "OwnHost"],
    ["https://example.com:8443/", "PortNotAllowed"],
    ["https://example.com:80/", "PortNotAllowed"],
    // Private addresses in every spelling.
    ["https://10.0.0.1/", "AddressNotPublic"],
    ["https://192.168.1.1/", "AddressNotPublic"],
    ["https://169.254.169.254/latest/meta-data", "AddressNotPublic"],
    ["https://127.0.0.1/", "AddressNotPublic"],
    ["https://127.1/", "AddressNotPublic"],
    ["https://2130706433/", "AddressNotPublic"],
    ["https://0x7f.0.0.1/", "AddressNotPublic"],
    ["https://0177.0.0.1/", "AddressNotPublic"],
    ["https://[::1]/", "AddressNotPublic"],
    ["https://[::ffff:10.0.0.1]/", "AddressNotPublic"],
    ["https://[64:ff9b::a00:1]/", "AddressNotPublic"],
    ["https://[fd00::1]/", "AddressNotPublic"],
    ["https://localhost/", "AddressNotPublic"],
    ["https://hooks.internal/", "AddressNotPublic"],
    ["https://intranet/", "AddressNotPublic"],
    ["https://①②⑦.0.0.1/", "AddressNotPublic"]
  ] as const) {
    it(`is refused as ${refusal}: ${given.slice(0, 60)}`, () => assert.strictEqual(url(given), refusal))
  }

  it("may be plain http only on loopback, where that is allowed, and where it is listed", () => {
    assert.strictEqual(url("http://127.0.0.1:9000/x", sandbox), "http://127.0.0.1:9000/x")
    assert.strictEqual(url("http://localhost:9000/x", sandbox), "http://localhost:9000/x")
    assert.strictEqual(url("http://example.com/x", sandbox), "SchemeNotAllowed")
    assert.strictEqual(url("http://10.1.2.3:9000/x", listed), "http://10.1.2.3:9000/x")
    assert.strictEqual(url("http://hooks.internal/x", listed), "http://hooks.internal/x")
    assert.strictEqual(url("http://10.1.2.3:9001/x", listed), "PortNotAllowed")
    assert.strictEqual(url("http://10.1.2.3/x", listed), "AddressNotPublic")
  })
})

const decode = Schema.decodeUnknownExit(CreateWebhook, { onExcessProperty: "error" })
const accepts = (events: unknown) => Exit.isSuccess(decode({ url: "https://example.com/", events }))
const complaint = (events: unknown) => {
  const exit = decode({ url: "https://example.com/", events })
  return Exit.isFailure(exit) ? String(exit.cause) : ""
}

describe("the events of a subscription", () => {
  it("are types, families or everything", () => {
    for (const type of EventType.literals) assert.isTrue(accepts([type]), type)
    for (const pattern of ["*", "transfer.*", "x402.*", "x402.payment.*", "a2a.task.*", "webhook.*"]) {
      assert.isTrue(accepts([pattern]), pattern)
    }
    assert.isTrue(accepts(["*", "transfer.*", "transfer.created"]))
  })

  it("are none that nobody knows, and the refusal names it", () => {
    for (const unknown of [
      "transfer.vanished",
      "transfer",
      "transfer.",
      "*.created",
      "transfers.*",
      "transfer.created.*"
    ]) {
      assert.include(complaint(["*", unknown]), `${JSON.stringify(unknown)} is no type of event`)
    }
    assert.include(complaint(["transfer.vanished"]), "there are transfer.created, transfer.completed")
    assert.include(complaint(["batch.done"]), "there are batch.completed, batch.*")
    assert.match(complaint(["payments.completed"]) ?? "", /there are transfer\.\*, .*x402\.\*.*, \*/)
    for (const unknown of ["", " ", "**", "TRANSFER.*", "transfer.*\\n"]) assert.isFalse(accepts([unknown]), unknown)
  })

  it("are at least one, each once, and at most 100", () => {
    assert.isFalse(accepts([]))
    assert.include(complaint(["*", "transfer.*", "*"]), `"*" is named twice`)
    assert.isBelow(eventPatterns.size, maxEvents)
    assert.isFalse(accepts(Array.from({ length: maxEvents + 1 }, () => "*")))
    for (const wrong of [undefined, null, "*", {}, [1], [null]]) assert.isFalse(accepts(wrong))
  })

  it("are its name, its families and everything", () => {
    assert.deepStrictEqual(patternsOf("transfer.created"), ["transfer.created", "*", "transfer.*"])
    assert.deepStrictEqual(patternsOf("x402.payment.completed"), [
      "x402.payment.completed",
      "*",
      "x402.*",
      "x402.payment.*"
    ])
  })
})

describe("the overlap of secrets", () => {
  const accepts = (overlap_seconds: unknown) =>
    Exit.isSuccess(Schema.decodeUnknownExit(RotateWebhookSecret)({ overlap_seconds }))
  it("is whole seconds from none to a week", () => {
    assert.deepStrictEqual([0, 1, 604_800].map(accepts), [true, true, true])
    assert.deepStrictEqual([-1, 0.5, 604_801, "60", null].map(accepts), [false, false, false, false, false])
  })
})

const at = DateTime.makeUnsafe("2026-01-02T03:04:05.678Z")
const now = DateTime.add(at, { days: 1 })
const webhook: Webhook = {
  id: WebhookId.make("01890a5d-ac96-774b-bcce-b302099a8057"),
  url: "https://example.com/",
  events: ["*"],
  description: null,
  endpoint_id: null,
  status: "active",
  status_reason: null,
  failures: 3,
  failing_since: DateTime.toDate(at),
  created_at: DateTime.toDate(at),
  updated_at: DateTime.toDate(at)
}
const paused: Webhook = { ...webhook, status: "paused", status_reason: "failing" }
const disabled: Webhook = { ...webhook, status: "disabled", status_reason: "gone" }
const becoming = (from: Webhook, status: "active" | "paused") => {
  const next = changed(from, { status }, now)
  return Result.isSuccess(next) ? next.success : next.failure
}

describe("the status of a subscription", () => {
  it("goes from active to paused by request", () => {
    assert.deepInclude(becoming(webhook, "paused"), { status: "paused", status_reason: "requested", failures: 3 })
  })
  for (const from of [paused, disabled]) {
    it(`goes from ${from.status} to active, with no failures`, () => {
      const active = { status: "active", status_reason: null, failures: 0, failing_since: null } as const
      assert.deepInclude(becoming(from, "active"), active)
    })
  }
  it("stays as it is when it is so already, with its reason and its failures", () => {
    assert.deepInclude(becoming(webhook, "active"), { status: "active", failures: 3 })
    assert.deepInclude(becoming(paused, "paused"), { status: "paused", status_reason: "failing" })
  })
  it("stays as it is with another url, which has not failed yet", () => {
    const next = changed(paused, { url: "https://example.com/elsewhere" }, now)
    assert.isTrue(Result.isSuccess(next))
    if (Result.isFailure(next)) return
    const { failing_since, failures, status, status_reason } = next.success
    assert.deepStrictEqual([failures, failing_since, status, status_reason], [0, null, "paused", "failing"])
  })
  it("does not go from disabled to paused", () => {
    assert.deepInclude(becoming(disabled, "paused"), {
      _tag: "STATE_TRANSITION_INVALID",
      from: "disabled",
      to: "paused"
    })
  })
  it("is no matter to the rest, which changes where something is given", () => {
    const next = changed(disabled, { description: "Books", events: ["transfer.*"] }, now)
    assert.isTrue(Result.isSuccess(next))
    if (Result.isFailure(next)) return
    assert.deepStrictEqual(next.success, {
      ...disabled,
      description: "Books",
      events: ["transfer.*"],
      updated_at: DateTime.toDate(now)
    })
  })
})
