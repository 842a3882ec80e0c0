/** What a call costs, by how many calls the payer has completed: the highest tier reached applies. Micro-units. */
export interface Price {
  readonly base: bigint
  readonly tiers: ReadonlyArray<{ readonly threshold: number; readonly amount: bigint }>
}

/** A price that no count changes. */
export const flat = (amount: bigint): Price => ({ base: amount, tiers: [] })

/** The price of the next call of a payer who completed `count` calls. */
export const priceAt = (price: Price, count: bigint): bigint => {
  let amount = price.base
  let reached = -1
  for (const tier of price.tiers) {
    if (tier.threshold > reached && BigInt(tier.threshold) <= count) {
      amount = tier.amount
      reached = tier.threshold
    }
  }
  return amount
}
