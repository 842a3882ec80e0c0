import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { amountsOf, type BatchLine, batchOf, CreateBatch, maxItems, type Party, routeOf } from "#domain/Batch.ts"
import { BatchId, TransferId, WalletId } from "#domain/Ids.ts"

const uuid = (digit: number) => `00000000-0000-7000-8000-00000000000${digit}`
const party = (
  digit: number,
  network: Party["network"] = "solana-devnet",
  currency: Party["currency"] = "USDC"
): Party => ({
  id: WalletId.make(uuid(digit)),
  currency,
  network
})
const [solana, base, euros] = [party(1), party(2, "base-sepolia"), party(3, "solana-devnet", "EURC")]

describe("the route of an item", () => {
  const cases: ReadonlyArray<readonly [string, ReturnType<typeof routeOf<Party>>, ReturnType<typeof routeOf<Party>>]> =
    [
      [
        "to a wallet is paid by the wallet on its network",
        routeOf("USDC", [solana, base], { wallet: party(4, "base-sepolia") }),
        { from: base, to: party(4, "base-sepolia"), failure: undefined }
      ],
      [
        "to a wallet nobody pays on whose network fails",
        routeOf("USDC", [solana], { wallet: base }),
        { from: solana, to: base, failure: "network_mismatch" }
      ],
      [
        "to a wallet that is not there fails",
        routeOf("USDC", [solana], { wallet: undefined }),
        { from: solana, to: undefined, failure: "wallet_not_found" }
      ],
      [
        "to a wallet without anybody who pays fails",
        routeOf<Party>("USDC", [], { wallet: base }),
        { from: undefined, to: base, failure: "wallet_not_found" }
      ],
      [
        "to the paying wallet fails",
        routeOf("USDC", [solana], { wallet: solana }),
        { from: solana, to: solana, failure: "same_wallet" }
      ],
      [
        "to a wallet of another currency fails",
        routeOf("USDC", [solana], { wallet: euros }),
        { from: solana, to: euros, failure: "currency_mismatch" }
      ],
      [
        "to a wallet from one of another currency fails",
        routeOf("USDC", [euros], { wallet: solana }),
        { from: euros, to: solana, failure: "currency_mismatch" }
      ],
      [
        "in another currency than both wallets have fails",
        routeOf("EURC", [solana], { wallet: party(4) }),
        { from: solana, to: party(4), failure: "currency_mismatch" }
      ],
      [
        "to an account goes where the preferred payer can pay",
        routeOf("USDC", [base, solana], { isKnown: true, wallets: [party(4), party(5, "base-sepolia")] }),
        { from: base, to: party(5, "base-sepolia"), failure: undefined }
      ],
      [
        "to an account is paid by whoever can",
        routeOf("USDC", [base, solana], { isKnown: true, wallets: [party(4)] }),
        { from: solana, to: party(4), failure: undefined }
      ],
      [
        "to the paying account itself fails",
        routeOf("USDC", [solana], { isKnown: true, wallets: [solana] }),
        { from: solana, to: solana, failure: "same_wallet" }
      ],
      [
        "to an account that is not there fails",
        routeOf("USDC", [solana], { isKnown: false, wallets: [] }),
        { from: solana, to: undefined, failure: "account_not_found" }
      ],
      [
        "to an account that receives elsewhere fails",
        routeOf("USDC", [solana], { isKnown: true, wallets: [party(4, "base-sepolia")] }),
        { from: solana, to: undefined, failure: "no_receiving_wallet" }
      ],
      [
        "to an account from a wallet of another currency fails",
        routeOf("USDC", [euros], { isKnown: true, wallets: [party(4)] }),
        { from: euros, to: undefined, failure: "currency_mismatch" }
      ],
      [
        "to an account without anybody who pays fails",
        routeOf<Party>("USDC", [], { isKnown: true, wallets: [party(4)] }),
        { from: undefined, to: undefined, failure: "wallet_not_found" }
      ]
    ]
  for (const [name, actual, expected] of cases) it(name, () => assert.deepStrictEqual(actual, expected))
})

describe("the status of a batch", () => {
  const line = (index: number, status: "completed" | "failed"): BatchLine => ({
    index,
    id: TransferId.make(uuid(index)),
    status,
    failure_reason: status === "failed" ? "insufficient_funds" : null,
    replayed: false
  })
  const of = (...statuses: ReadonlyArray<"completed" | "failed">) =>
    batchOf(
      BatchId.make(uuid(1)),
      new Date(0),
      statuses.map((status, index) => line(index, status))
    )
  it("says whether all, some or none are completed", () => {
    assert.deepInclude(of("completed", "completed"), { total: 2, completed: 2, failed: 0, status: "completed" })
    assert.deepInclude(of("completed", "failed"), { total: 2, completed: 1, failed: 1, status: "partially_completed" })
    assert.deepInclude(of("failed"), { total: 1, completed: 0, failed: 1, status: "failed" })
  })
  it("of nothing adds up to nothing", () => assert.deepStrictEqual(amountsOf([]), []))
})

describe("the body of a batch", () => {
  const decode = Schema.decodeUnknownResult(CreateBatch)
  const good = { to_wallet_id: uuid(1), amount: "1", currency: "USDC" }
  const isGood = (transfers: ReadonlyArray<object>) => Result.isSuccess(decode({ transfers }))
  it(`has 1 to ${maxItems} items`, () => {
    assert.deepStrictEqual(
      [0, 1, maxItems, maxItems + 1].map((length) => isGood(Array.from({ length }, () => good))),
      [false, true, true, false]
    )
  })
  it("names one destination for each item", () => {
    const { to_wallet_id, ...rest } = good
    assert.isFalse(isGood([rest]))
    assert.isFalse(isGood([{ ...good, to_account_id: to_wallet_id }]))
    assert.isTrue(isGood([{ ...rest, to_account_id: to_wallet_id }]))
  })
})
