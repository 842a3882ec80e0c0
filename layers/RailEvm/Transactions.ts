import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { notForLong } from "#services/EventLog/Head.ts"
import { type Hex, isHex } from "./Rpc.ts"

/** What a transaction of ours pays. */
export interface Fees {
  readonly maxFee: bigint
  readonly tip: bigint
}

/** A transaction as it was signed, whether or not it was ever sent. */
export const SentTransaction = Schema.Struct({
  hash: Schema.String,
  settlement_id: Schema.String,
  /** The address of the key that signed it: an operator may have given us another one since. */
  relayer: Schema.String,
  nonce: Schema.BigInt,
  raw: Schema.String,
  gas: Schema.BigInt,
  max_fee: Schema.BigInt,
  tip: Schema.BigInt,
  from_block: Schema.BigInt,
  created_at: Schema.Date
})
export type SentTransaction = typeof SentTransaction.Type

export interface NewTransaction {
  readonly settlement: string
  readonly to: string
  readonly data: Hex
  readonly gas: bigint
  readonly fees: Fees
  readonly fromBlock: bigint
}

const columns = "hash, settlement_id, relayer, nonce, raw, gas, max_fee, tip, from_block, created_at"

/**
 * The relayer's key and everything it signed. A transaction is kept before it is sent, so a process that dies in between leaves no
 * doubt: whatever may be on the chain is found here, and may be sent again.
 */
export const make = Effect.fnUntraced(function* (key: Redacted.Redacted, chainId: bigint) {
  const sql = yield* SqlClient.SqlClient
  const { keccak256, parseTransaction } = yield* Effect.promise(() => import("viem"))
  const { privateKeyToAccount } = yield* Effect.promise(() => import("viem/accounts"))
  const secret = Redacted.value(key)
  const account = privateKeyToAccount(isHex(secret) ? secret : `0x${secret}`)
  const relayer = account.address.toLowerCase()

  const sign = (nonce: bigint, { data, fees, gas, to }: Pick<NewTransaction, "data" | "fees" | "gas" | "to">) =>
    Effect.map(
      Effect.promise(() =>
        account.signTransaction({
          type: "eip1559",
          chainId: Number(chainId),
          nonce: Number(nonce),
          to: isHex(to) ? to : "0x",
          data,
          gas,
          maxFeePerGas: fees.maxFee,
          maxPriorityFeePerGas: fees.tip
        })
      ),
      (raw) => ({ raw, hash: keccak256(raw) })
    )

  const insert = Effect.fnUntraced(function* (nonce: bigint, wanted: NewTransaction) {
    const { hash, raw } = yield* sign(nonce, wanted)
    const created_at = yield* DateTime.nowAsDate
    const row: SentTransaction = {
      hash,
      settlement_id: wanted.settlement,
      relayer,
      nonce,
      raw,
      gas: wanted.gas,
      max_fee: wanted.fees.maxFee,
      tip: wanted.fees.tip,
      from_block: wanted.fromBlock,
      created_at
    }
    yield* sql`INSERT INTO chain_transactions (hash, settlement_id, chain_id, relayer, nonce, raw, gas, max_fee, tip,
        from_block, created_at)
      VALUES (${hash}, ${row.settlement_id}, ${chainId}, ${relayer}, ${nonce}, ${raw}, ${row.gas}, ${row.max_fee},
        ${row.tip}, ${row.from_block}, ${created_at})`
    return row
  })

  const find = SqlSchema.findAll({
    Request: Schema.String,
    Result: SentTransaction,
    execute: (settlement) =>
      sql`SELECT ${sql.literal(columns)} FROM chain_transactions
        WHERE settlement_id = ${settlement} AND dropped_at IS NULL ORDER BY created_at DESC, max_fee DESC LIMIT 50`
  })
  /** What was signed for this settlement and may still get into a block, the newest first. */
  const of = (settlement: string) => Effect.orDie(find(settlement))

  const since = SqlSchema.findOne({
    Request: Schema.String,
    Result: Schema.Struct({ from_block: Schema.NullOr(Schema.BigInt) }),
    execute: (settlement) =>
      sql`SELECT min(from_block) AS from_block FROM chain_transactions WHERE settlement_id = ${settlement}`
  })
  /** The block after which something was signed for this settlement, whatever became of it; null when nothing ever was. */
  const signedSince = (settlement: string) =>
    Effect.map(Effect.orDie(since(settlement)), ({ from_block }) => from_block)

  const next = SqlSchema.findOneOption({
    Request: Schema.Void,
    Result: Schema.Struct({ next_nonce: Schema.BigInt }),
    execute: () => sql`SELECT next_nonce FROM chain_relayers WHERE chain_id = ${chainId} AND address = ${relayer}`
  })
  /** The nonce after the last one handed out; undefined before the first. */
  const nextNonce = Effect.map(Effect.orDie(next()), (row) => Option.getOrUndefined(row)?.next_nonce)

  const open = SqlSchema.findOne({
    Request: Schema.Struct({ count: Schema.BigInt, before: Schema.Date }),
    Result: Schema.Struct({ waits: Schema.Boolean }),
    execute: ({ before, count }) =>
      sql`SELECT EXISTS (SELECT FROM chain_transactions WHERE chain_id = ${chainId} AND relayer = ${relayer}
        AND nonce >= ${count} AND created_at < ${before} AND dropped_at IS NULL) AS waits`
  })
  /** Whether something was signed before that time, and is not in a block of a chain that counts so many transactions of ours. */
  const waitsSince = (before: Date, count: bigint) =>
    Effect.map(Effect.orDie(open({ before, count })), ({ waits }) => waits)

  const lockNonce = SqlSchema.findOne({
    Request: Schema.BigInt,
    Result: Schema.Struct({ next_nonce: Schema.BigInt }),
    execute: (count) =>
      sql`INSERT INTO chain_relayers AS r (chain_id, address, next_nonce) VALUES (${chainId}, ${relayer}, ${count})
        ON CONFLICT (chain_id, address) DO UPDATE SET next_nonce = GREATEST(r.next_nonce, EXCLUDED.next_nonce)
        RETURNING next_nonce, ${sql.literal(notForLong)}`
  })
  /**
   * Signs under the next nonce, and keeps it. The relayer's row is locked meanwhile, so of any number of processes each gets its own
   * nonce, and none is left out. A settlement that has a transaction gets no second one.
   */
  const first = Effect.fnUntraced(
    function* (wanted: NewTransaction, count: bigint) {
      const { next_nonce: nonce } = yield* lockNonce(count)
      const known = yield* find(wanted.settlement)
      if (known[0] !== undefined) return known[0]
      const row = yield* insert(nonce, wanted)
      yield* sql`UPDATE chain_relayers SET next_nonce = ${nonce + 1n} WHERE chain_id = ${chainId} AND address = ${relayer}`
      return row
    },
    sql.withTransaction,
    Effect.orDie
  )

  const newest = SqlSchema.findOneOption({
    Request: Schema.BigInt,
    Result: SentTransaction,
    execute: (nonce) =>
      sql`SELECT ${sql.literal(columns)} FROM chain_transactions
        WHERE chain_id = ${chainId} AND relayer = ${relayer} AND nonce = ${nonce} AND dropped_at IS NULL
        ORDER BY created_at DESC, max_fee DESC LIMIT 1`
  })
  /** What is to be sent under this nonce. */
  const at = (nonce: bigint) => Effect.map(Effect.orDie(newest(nonce)), Option.getOrUndefined)

  const lock = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: SentTransaction,
    execute: (hash) =>
      sql`SELECT ${sql.literal(columns)} FROM chain_transactions WHERE hash = ${hash} FOR NO KEY UPDATE`
  })
  /** Signs the same again for a higher fee; whoever was faster wins, so a nonce never has two replacements of one step. */
  const replace = Effect.fnUntraced(
    function* (stuck: SentTransaction, fees: Fees) {
      yield* lock(stuck.hash)
      const latest = yield* newest(stuck.nonce)
      if (Option.isSome(latest) && latest.value.hash !== stuck.hash) return latest.value
      const { from_block: fromBlock, gas, raw, settlement_id: settlement } = stuck
      const { data = "0x", to } = parseTransaction(isHex(raw) ? raw : "0x")
      return yield* insert(stuck.nonce, { to: to ?? "0x", data, settlement, gas, fees, fromBlock })
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** Moves nothing, and uses up a nonce that nothing of ours was signed under. It need not be kept: any other one is as good. */
  const blank = (nonce: bigint, fees: Fees) => sign(nonce, { to: relayer, data: "0x", gas: 21_000n, fees })

  /** Its nonce went to something else, for good. */
  const drop = Effect.fnUntraced(function* (settlement: string) {
    const now = yield* DateTime.nowAsDate
    yield* sql`UPDATE chain_transactions SET dropped_at = ${now} WHERE settlement_id = ${settlement} AND dropped_at IS NULL`
  }, Effect.orDie)

  return { relayer, of, signedSince, nextNonce, waitsSince, at, first, replace, blank, drop }
})
export type Transactions = Effect.Success<ReturnType<typeof make>>
