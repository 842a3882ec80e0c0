import { Data, Effect } from "effect"
import type { RailUnavailable } from "#services/Rail.ts"
import type { Move, Search, Use } from "./Contracts.ts"
import { AnswerTooLarge } from "../Rail/JsonHttp.ts"
import { isSame, type Log, type Receipt, type Rpc, type RpcError, type Transaction } from "./Rpc.ts"

/** In how many blocks logs are looked for by one question, where the node answers for as many. */
const span = 2_000n
/** How many such questions one look may take either way: where that is not enough, the first and the last of them are asked. */
const mostSpans = 40
/** How many transactions of one span are read, and how many of them at once. */
const mostTransactions = 200
const atOnce = 8

/** The node has no answer for so many blocks. Some have one for five only, and each says so in words of its own. */
class TooWide extends Data.TaggedError("TooWide") {}

/** The spans between two blocks, and whether they leave none out. */
export const spansOf = (
  from: bigint,
  to: bigint,
  width = span
): { spans: ReadonlyArray<readonly [bigint, bigint]>; whole: boolean } => {
  const count = to < from ? 0 : Number((to - from) / width) + 1
  const whole = count <= mostSpans
  const indices = whole
    ? Array.from({ length: count }, (_, index) => index)
    : Array.from({ length: mostSpans }, (_, index) => (index < mostSpans / 2 ? index : count - mostSpans + index))
  const spans = indices.map((index) => {
    const low = from + BigInt(index) * width
    return [low, low + width - 1n < to ? low + width - 1n : to] as const
  })
  return { spans, whole }
}

/** From where on an authorisation may have been used, and from where on it most likely was. */
export interface Start {
  readonly from: bigint
  readonly likely: bigint
}

/** The spans from there on in which a use is looked for, the likeliest first, and whether they leave none out. */
export const spansFrom = ({ from, likely }: Start, to: bigint, width = span): ReturnType<typeof spansOf> => {
  const before = likely < to ? likely : to
  const middle = before < from ? from : before
  const [first, rest] = [spansOf(middle, to, width), spansOf(from, middle - 1n, width)]
  return { spans: [...first.spans, ...rest.spans.toReversed()], whole: first.whole && rest.whole }
}

/** Finds what used an authorisation. */
export const make = (rpc: Rpc) => {
  const logsOf = (search: Search, from: bigint, to: bigint) =>
    rpc.logs({ ...search, from, to }).pipe(
      Effect.map((logs) => logs.filter(search.matches)),
      Effect.catchTag("RpcError", (error) => Effect.fail(from < to ? new TooWide() : error))
    )
  const hashesOf = (logs: ReadonlyArray<Log>) => [
    ...new Set(logs.flatMap(({ transactionHash }) => transactionHash ?? []))
  ]

  /** Whoever brings an authorisation may have written any number of logs beside its own, for a cent, so that no receipt is read. */
  const unlessTooLarge = (receipt: ReturnType<Rpc["receipt"]>) =>
    Effect.catchTag(receipt, "RAIL_UNAVAILABLE", (error) =>
      error instanceof AnswerTooLarge ? Effect.succeed("TooLarge" as const) : Effect.fail(error)
    )
  /** In the place of a receipt what a transaction wrote about this move. Those that did not go through wrote nothing. */
  const wroteIn = Effect.fnUntraced(function* (hash: string, { blockHash, blockNumber }: Transaction, move: Move) {
    if (blockNumber === null || blockHash == null) return null
    const block = { from: blockNumber, to: blockNumber }
    const found = yield* Effect.forEach(move.telling, (filter) => rpc.logs({ ...filter, ...block }), { concurrency: 2 })
    const logs = found.flat().filter(({ transactionHash }) => transactionHash !== null && isSame(transactionHash, hash))
    return logs.length === 0 ? null : { transactionHash: hash, blockHash, blockNumber, status: 1n, logs }
  })
  /** The transaction, when it is known to have gone through. */
  const wentThrough = Effect.fnUntraced(function* (hash: string, move: Move) {
    const [transaction, read] = yield* Effect.all([rpc.transaction(hash), unlessTooLarge(rpc.receipt(hash))], {
      concurrency: 2
    })
    if (transaction === null) return undefined
    const receipt = read === "TooLarge" ? yield* wroteIn(hash, transaction, move) : read
    return receipt?.status === 1n ? { transaction, receipt } : undefined
  })

  /**
   * The transaction between these blocks that used an authorisation or cancelled it, and which of both. Undefined when none is proven
   * to: a node that knows no such log, or not its receipt, may only lag behind.
   */
  const useIn = Effect.fnUntraced(function* (move: Move, start: Start, to: bigint, width: bigint) {
    const { spans, whole } = spansFrom(start, to, width)
    let mayBeUsed = !whole
    for (const [low, high] of spans) {
      const oldestFirst = hashesOf(yield* logsOf(move.uses, low, high))
      // A payer who calls all the time makes more such transfers than are read: what is near is read before what is not.
      const hashes = low < start.likely ? oldestFirst.toReversed() : oldestFirst
      if (hashes.length > 0) mayBeUsed = true
      for (let first = 0; first < Math.min(hashes.length, mostTransactions); first += atOnce) {
        const read = yield* Effect.forEach(hashes.slice(first, first + atOnce), (hash) => wentThrough(hash, move), {
          concurrency: atOnce
        })
        for (const found of read) {
          const use = found && move.useIn(found.transaction, found.receipt)
          if (found !== undefined && use !== undefined) return { ...use, receipt: found.receipt }
        }
      }
    }
    if (mayBeUsed || move.cancellations === undefined) return undefined
    for (const [low, high] of spans) {
      for (const hash of hashesOf(yield* logsOf(move.cancellations, low, high)).slice(0, 1)) {
        const found = yield* wentThrough(hash, move)
        const none: Use = { moved: false, log: undefined }
        if (found?.receipt.logs.some(move.cancellations.matches)) return { ...none, receipt: found.receipt }
      }
    }
    return undefined
  })
  /** The same, asked in as narrow spans as the node answers for: then those that are looked at may leave more out. */
  const useOf = (
    move: Move,
    start: Start,
    to: bigint,
    width = span
  ): Effect.Effect<(Use & { readonly receipt: Receipt }) | undefined, RpcError | RailUnavailable> =>
    Effect.catchTag(useIn(move, start, to, width), "TooWide", () => useOf(move, start, to, width / 2n))
  return useOf
}
