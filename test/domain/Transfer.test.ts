import { assert, describe, it } from "vitest"
import { WalletId } from "#domain/Ids.ts"
import { whyApart } from "#domain/Transfer.ts"

describe("what keeps two wallets apart", () => {
  const wallet = (last: string, currency: "USDC" | "EURC", network: "base-sepolia" | "solana-devnet") => ({
    id: WalletId.make(`aaaaaaaa-0000-7000-8000-00000000000${last}`),
    currency,
    network
  })
  const one = wallet("1", "USDC", "base-sepolia")
  const why = (to: typeof one, currency: "USDC" | "EURC" = "USDC") => whyApart(one, to, currency)?._tag

  it("is the same wallet first, then the currency of either, then the network", () => {
    assert.strictEqual(why(one, "EURC"), "SAME_WALLET")
    assert.strictEqual(why(wallet("2", "EURC", "solana-devnet")), "CURRENCY_MISMATCH")
    assert.strictEqual(why(wallet("2", "EURC", "base-sepolia"), "EURC"), "CURRENCY_MISMATCH")
    assert.strictEqual(why(wallet("2", "USDC", "solana-devnet")), "NETWORK_MISMATCH")
    assert.isUndefined(why(wallet("2", "USDC", "base-sepolia")))
  })
})
