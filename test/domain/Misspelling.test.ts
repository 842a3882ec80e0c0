import { assert, describe, it } from "@effect/vitest"
import { meantBy } from "#domain/Misspelling.ts"

const known = ["currency", "network", "from_wallet_id", "amount", "name", "memo"]

describe("a name that is none of those known", () => {
  it("is one of them with its words joined otherwise, or with one slip", () => {
    for (const [written, meant] of [
      ["fromWalletId", "from_wallet_id"],
      ["from-wallet-id", "from_wallet_id"],
      ["Amount", "amount"],
      ["curency", "currency"],
      ["currrency", "currency"],
      ["currancy", "currency"],
      ["netwrok", "network"],
      ["networ", "network"],
      ["xnetwork", "network"],
      ["from_walet_id", "from_wallet_id"]
    ] as const) {
      assert.strictEqual(meantBy(written, known), meant, written)
    }
  })

  it("is nothing where it is further off, or so short that it could be anything", () => {
    for (const written of ["crrncy", "ntewrok", "worknet", "description", "nam", "x", "", "__proto__"]) {
      assert.isUndefined(meantBy(written, known), written)
    }
  })

  it("is rather the one with the same letters than one with a slip", () => {
    assert.strictEqual(meantBy("wallet_ids", ["wallet_id", "walletIds"]), "walletIds")
  })
})
