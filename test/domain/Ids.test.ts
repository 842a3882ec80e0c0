import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { AccountId, AccountUuid, EndpointId, fromTypeId, toTypeId, WalletId } from "#domain/Ids.ts"

/** The valid vectors of the TypeID specification. */
const vectors: ReadonlyArray<readonly [name: string, suffix: string, uuid: string]> = [
  ["nil", "00000000000000000000000000", "00000000-0000-0000-0000-000000000000"],
  ["one", "00000000000000000000000001", "00000000-0000-0000-0000-000000000001"],
  ["ten", "0000000000000000000000000a", "00000000-0000-0000-0000-00000000000a"],
  ["sixteen", "0000000000000000000000000g", "00000000-0000-0000-0000-000000000010"],
  ["thirty-two", "00000000000000000000000010", "00000000-0000-0000-0000-000000000020"],
  ["max-valid", "7zzzzzzzzzzzzzzzzzzzzzzzzz", "ffffffff-ffff-ffff-ffff-ffffffffffff"],
  ["valid-alphabet", "0123456789abcdefghjkmnpqrs", "0110c853-1d09-52d8-d73e-1194e95b5f19"],
  ["valid-uuidv7", "01h455vb4pex5vsknk084sn02q", "01890a5d-ac96-774b-bcce-b302099a8057"]
]

/** Its invalid vectors, under our prefix where the prefix is not the point. */
const broken: ReadonlyArray<readonly [name: string, text: string]> = [
  ["prefix-uppercase", "WAL_00000000000000000000000000"],
  ["prefix-numeric", "12345_00000000000000000000000000"],
  ["prefix-period", "w.l_00000000000000000000000000"],
  ["prefix-non-ascii", "wäl_00000000000000000000000000"],
  ["prefix-spaces", "  wal_00000000000000000000000000"],
  ["separator-empty-prefix", "_00000000000000000000000000"],
  ["separator-empty", "_"],
  ["suffix-short", "wal_1234567890123456789012345"],
  ["suffix-long", "wal_123456789012345678901234567"],
  ["suffix-spaces", "wal_1234567890123456789012345 "],
  ["suffix-uppercase", "wal_0123456789ABCDEFGHJKMNPQRS"],
  ["suffix-hyphens", "wal_123456789-123456789-123456"],
  ["suffix-wrong-alphabet", "wal_ooooooiiiiiiuuuuuuulllllll"],
  ["suffix-ambiguous-crockford", "wal_i23456789ol23456789oi23456"],
  ["suffix-overflow", "wal_8zzzzzzzzzzzzzzzzzzzzzzzzz"],
  ["another kind", "acc_01h455vb4pex5vsknk084sn02q"],
  ["the empty string", ""],
  ["a uuid without hyphens", "01890a5dac96774bbcceb302099a8057"],
  ["a uuid with a NUL", "01890a5d-ac96-774b-bcce-b302099a805\u0000"]
]

const uuid = "01890a5d-ac96-774b-bcce-b302099a8057"

describe("a TypeID", () => {
  for (const [name, suffix, id] of vectors) {
    it(`spec vector ${name}`, () => {
      assert.strictEqual(toTypeId("wal", id), `wal_${suffix}`)
      assert.strictEqual(fromTypeId("wal", `wal_${suffix}`), id)
    })
  }

  for (const [name, text] of broken) {
    it(`refuses ${name}`, () => {
      assert.isUndefined(fromTypeId("wal", text))
      assert.isTrue(Exit.isFailure(Schema.decodeUnknownExit(WalletId)(text)))
    })
  }

  it.prop("is read back as what was written", { high: Schema.BigInt, low: Schema.BigInt }, ({ high, low }) => {
    const hex = BigInt.asUintN(128, (high << 64n) ^ low)
      .toString(16)
      .padStart(32, "0")
    const id = hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5")
    assert.strictEqual(fromTypeId("wal", toTypeId("wal", id)), id)
  })
})

describe("an identifier", () => {
  it("is accepted as TypeID and as uuid in any case, and is a lower-case uuid inside", () => {
    for (const text of ["wal_01h455vb4pex5vsknk084sn02q", uuid, uuid.toUpperCase()]) {
      assert.strictEqual(Schema.decodeUnknownSync(WalletId)(text), uuid)
    }
  })

  it("is shown as TypeID, or as uuid where the interface says uuid", () => {
    assert.strictEqual(Schema.encodeSync(AccountId)(AccountId.make(uuid)), "acc_01h455vb4pex5vsknk084sn02q")
    assert.strictEqual(Schema.encodeSync(AccountUuid)(AccountId.make(uuid)), uuid)
    assert.strictEqual(Schema.decodeUnknownSync(EndpointId)("epd_01h455vb4pex5vsknk084sn02q"), uuid)
  })

  it("that is no text is refused", () => {
    for (const input of [null, 1, {}, [uuid]]) {
      assert.isTrue(Exit.isFailure(Schema.decodeUnknownExit(WalletId)(input)))
    }
  })
})
