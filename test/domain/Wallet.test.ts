import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { AccountId, WalletId } from "#domain/Ids.ts"
import { CreateWallet, entryId, FreezeWallet, Wallet } from "#domain/Wallet.ts"

const uuid = "01890a5d-ac96-774b-bcce-b302099a8057"
const at = new Date("2026-01-02T03:04:05.678Z")
const wallet: Wallet = {
  id: WalletId.make(uuid),
  owner_type: "account",
  owner_id: AccountId.make(uuid),
  currency: "USDC",
  network: "solana-devnet",
  address: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
  name: null,
  balance_available: 1_500_000n,
  balance_pending: 1n,
  status: "active",
  frozen_reason: null,
  frozen_at: null,
  metadata: {},
  created_at: at,
  updated_at: at
}

const accepts = (input: unknown) => Exit.isSuccess(Schema.decodeUnknownExit(CreateWallet)(input))

describe("a wallet record", () => {
  it("on the wire has prefixed ids, decimal strings and UTC timestamps", () => {
    assert.deepInclude(Schema.encodeSync(Wallet)(wallet), {
      id: "wal_01h455vb4pex5vsknk084sn02q",
      owner_id: "acc_01h455vb4pex5vsknk084sn02q",
      balance_available: "1.50",
      balance_pending: "0.000001",
      created_at: "2026-01-02T03:04:05.678Z"
    })
  })

  it("is read back as what was written", () => {
    assert.deepStrictEqual(Schema.decodeUnknownSync(Wallet)(Schema.encodeSync(Wallet)(wallet)), wallet)
  })
})

describe("the request for a wallet", () => {
  it("may be empty: everything has a default", () => assert.isTrue(accepts({})))

  it("names the owner by acc_, by agt_ or by uuid", () => {
    for (const id of ["acc_01h455vb4pex5vsknk084sn02q", "agt_01h455vb4pex5vsknk084sn02q", uuid]) {
      assert.strictEqual(Schema.decodeUnknownSync(CreateWallet)({ owner_id: id }).owner_id, uuid)
    }
    assert.isFalse(accepts({ owner_id: "wal_01h455vb4pex5vsknk084sn02q" }))
  })

  it("refuses other currencies, networks and owners", () => {
    for (const input of [
      { currency: "USD" },
      { currency: "usdc" },
      { network: "ethereum" },
      { owner_type: "tenant" }
    ]) {
      assert.isFalse(accepts(input))
    }
  })

  it("keeps a name of up to 255 characters exactly as it came", () => {
    for (const name of [
      "🦊 \u202eright to left\u202c",
      "\u200d",
      "<b>&\"'",
      "'; DROP TABLE wallets; --",
      "a\r\nb",
      "x".repeat(255)
    ]) {
      assert.strictEqual(Schema.decodeUnknownSync(CreateWallet)({ name }).name, name)
    }
  })

  it("refuses a name that Postgres could not give back, a blank one and one of 256 characters", () => {
    for (const name of ["a\u0000b", "\ud800", "\udc00", "", "  ", "x".repeat(256), 7]) assert.isFalse(accepts({ name }))
  })

  it("refuses metadata above 16 KiB, and metadata that Postgres could not give back", () => {
    assert.isTrue(accepts({ metadata: { a: "x".repeat(16_376) } }))
    assert.isFalse(accepts({ metadata: { a: "x".repeat(16_377) } }))
    for (const metadata of [{ a: ["\u0000"] }, { "\u0000": 1 }, { a: { b: "\ud83d" } }, [], "a", null]) {
      assert.isFalse(accepts({ metadata }))
    }
    assert.isTrue(accepts({ metadata: { a: "\\u0000 is only text here", b: "🦊" } }))
  })
})

describe("a reason for freezing", () => {
  it("is needed and not blank", () => {
    for (const input of [{}, { reason: "" }, { reason: " " }, { reason: null }]) {
      assert.isTrue(Exit.isFailure(Schema.decodeUnknownExit(FreezeWallet)(input)))
    }
  })
})

describe("an entry's id", () => {
  it("differs by side and by step, is the same every time, and sorts with its transfer", () => {
    const ids = new Set([0, 1].flatMap((step) => [entryId(uuid, step, "debit"), entryId(uuid, step, "credit")]))
    assert.strictEqual(ids.size, 4)
    assert.isTrue(ids.has(entryId(uuid, 0, "debit")))
    for (const id of ids) assert.strictEqual(id.slice(0, 13), uuid.slice(0, 13))
  })
})
