import { Context, Duration } from "effect"

/**
 * How many commands may wait (and how many items of commands, of one owner no more than a share, unless one has more and waits alone),
 * how many commands share a transaction (and how many items), and when we stop waiting for the database.
 */
export const LanePolicy = Context.Reference("turnpike/services/Ledger/Lane/LanePolicy", {
  defaultValue: () => ({
    waiting: 20_000,
    waitingItems: 50_000,
    waitingShare: 1 / 2,
    group: 512,
    groupTimeout: Duration.seconds(6),
    commandTimeout: Duration.seconds(8),
    reconnect: Duration.millis(100)
  })
})
