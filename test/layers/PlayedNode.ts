import { Effect } from "effect"
import { type Hex, keccak256 } from "viem"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { type Log, type LogFilter, type Receipt, type Rpc, RpcError, type Transaction } from "#layers/RailEvm/Rpc.ts"

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`
/** An address as a topic. */
const topic = (address: string): string => `0x${address.slice(2).padStart(64, "0")}`
const amountOf = word

export const topics = {
  transfer: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  used: "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
  canceled: "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81",
  invalidated: "0x3704902f963766a4e561bbaab6e6cdc1b1dd12f6e9e99648da8843b3f46b918d"
}
/** The logs of a transfer, and of an authorisation that was used. */
export const transferred = ({ asset, payTo, payer }: Authorization, amount = 10_000n, to = payTo) => ({
  address: asset,
  topics: [topics.transfer, topic(payer), topic(to)],
  data: amountOf(amount)
})
export const use = ({ asset, nonce, payer }: Authorization, what = topics.used) => ({
  address: asset,
  topics: [what, topic(payer), nonce],
  data: "0x" as const
})
/** That Permit2 cancelled nonces of a payer: that of 7, unless others are said. */
export const invalidated = ({ payer }: Authorization, word = 0n, mask = 1n << 7n) => ({
  address: "0x000000000022d473030f116ddee9f6b43ac78ba3",
  topics: [topics.invalidated, topic(payer)],
  data: `0x${amountOf(word).slice(2)}${amountOf(mask).slice(2)}` as const
})

/** What the selectors of the views begin with. */
const views = { used: "0xe94a0102", bitmap: "0x4fe02b44", balance: "0x70a08231", allowance: "0xdd62ed3e" }

export interface Mined {
  readonly block: bigint
  readonly status?: bigint
  readonly to?: string
  readonly input?: string
  /** Their places in the block count from here. */
  readonly first?: bigint
  readonly logs?: ReadonlyArray<Pick<Log, "address" | "topics" | "data">>
}

/** A node with a chain of two seconds a block, on which only what a test mines happens. It can lag behind with receipts and logs. */
export const make = (start: bigint) => {
  const chain = {
    head: start,
    /** Another one has other blocks under the same numbers. */
    fork: 0n,
    balance: 1_000_000n,
    allowance: 2n ** 255n,
    /** The block from which on every nonce is used. */
    usedFrom: undefined as bigint | undefined,
    /** What it says to whoever asks what a call takes, instead of that. */
    refusal: undefined as { readonly code: number; readonly message: string } | undefined,
    /** What it says that any call takes, and what gas costs. */
    estimate: 80_000n,
    baseFee: 1_000_000n,
    knowsReceipts: true,
    knowsLogs: true,
    /** For how many blocks it looks for logs at once. */
    widest: 2_000n,
    /** Of how many blocks it knows the state; what was before only archives know. */
    states: 128n,
    gas: 10n ** 20n,
    /** How many transactions of whom are in blocks; of others as many as were sent and mined. */
    counts: {} as Record<string, bigint>,
    /** The same in the newest block, where that is another number. */
    newest: {} as Record<string, bigint>
  }
  const receipts = new Map<string, Receipt>()
  const transactions = new Map<string, Transaction>()
  const sent: Array<string> = []
  const raws: Array<Hex> = []
  const asked: Array<readonly [bigint, bigint]> = []

  const mine = (
    hash: string,
    { block, first = 0n, input = "0x", logs = [], status = 1n, to = null as never }: Mined
  ) => {
    transactions.set(hash, { to, input, blockNumber: block, blockHash: blockAt(block).hash })
    receipts.set(hash, {
      transactionHash: hash,
      blockHash: blockAt(block).hash,
      blockNumber: block,
      status,
      logs: logs.map((log, index) => ({ ...log, logIndex: first + BigInt(index), transactionHash: hash }))
    })
    if (chain.head < block) chain.head = block
  }
  const hashAt = (number: bigint) => word((chain.fork << 128n) | number)
  const blockAt = (number: bigint) => ({
    number,
    hash: hashAt(number),
    parentHash: hashAt(number - 1n),
    timestamp: number * 2n,
    baseFeePerGas: chain.baseFee
  })
  const fits = (log: Log, { address, topics }: LogFilter) =>
    log.address === address &&
    topics.every((wanted, index) =>
      typeof wanted === "string" ? log.topics[index] === wanted : wanted.includes(log.topics[index] ?? "")
    )
  const ofState = <A>(at: bigint | "latest", answer: () => A) =>
    Effect.suspend(() =>
      at === "latest" || at > chain.head - chain.states
        ? Effect.sync(answer)
        : Effect.fail(new RpcError({ code: -32_000, message: "missing trie node", data: undefined }))
    )
  const isUsed = (at: bigint | "latest") => chain.usedFrom !== undefined && (at === "latest" || at >= chain.usedFrom)

  const rpc: Rpc = {
    chainId: Effect.succeed(84_532n),
    head: Effect.sync(() => blockAt(chain.head)),
    blockAt: (at) => Effect.succeed(blockAt(at)),
    balance: () => Effect.sync(() => chain.gas),
    tip: Effect.succeed(1_000n),
    transactionCount: (address, at) =>
      ofState(
        at,
        () =>
          (at === "latest" ? chain.newest[address] : undefined) ??
          chain.counts[address] ??
          BigInt(sent.filter((hash) => receipts.has(hash)).length)
      ),
    call: ({ data }, at = "latest") =>
      ofState(at, () => {
        if (data.startsWith(views.used)) return word(isUsed(at) ? 1n : 0n)
        if (data.startsWith(views.bitmap)) return word(isUsed(at) ? 2n ** 256n - 1n : 0n)
        return word(data.startsWith(views.balance) ? chain.balance : chain.allowance)
      }),
    estimateGas: () =>
      Effect.suspend(() =>
        chain.refusal
          ? Effect.fail(new RpcError({ ...chain.refusal, data: undefined }))
          : Effect.succeed(chain.estimate)
      ),
    receipt: (hash) => Effect.sync(() => (chain.knowsReceipts ? (receipts.get(hash) ?? null) : null)),
    transaction: (hash) => Effect.sync(() => transactions.get(hash) ?? null),
    logs: (filter) =>
      Effect.gen(function* () {
        if (filter.to - filter.from >= chain.widest)
          return yield* new RpcError({ code: -32_600, message: "block range is too wide", data: undefined })
        asked.push([filter.from, filter.to])
        const found = [...receipts.values()].filter(
          ({ blockNumber, status }) => status === 1n && blockNumber >= filter.from && blockNumber <= filter.to
        )
        return chain.knowsLogs ? found.flatMap(({ logs }) => logs).filter((log) => fits(log, filter)) : []
      }),
    send: (raw) =>
      Effect.sync(() => {
        const hash = keccak256(raw as Hex)
        sent.push(hash)
        raws.push(raw as Hex)
        return hash
      })
  }
  return { rpc, chain, mine, asked, raws }
}
