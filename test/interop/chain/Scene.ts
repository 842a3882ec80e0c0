import { strict as assert } from "node:assert"
import { setTimeout as pause } from "node:timers/promises"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { Outcome } from "../../../src/domain/ChainSettlement.ts"
import type { Devnet } from "./Devnet.ts"
import * as Payer from "./Payer.ts"
import { type Process, relayerKey, start, type TestDatabase } from "./Platform.ts"

/** The address our transactions come from. */
export const relayer = privateKeyToAccount(relayerKey).address

/** What checks do to the chain and to the processes on it. */
export const make = async (devnet: Devnet, database: TestDatabase) => {
  const { client } = devnet
  const stopping: Array<() => Promise<unknown>> = []
  const opened = async (...args: Parameters<typeof start> extends [unknown, unknown, ...infer Rest] ? Rest : never) => {
    const process = await start(devnet, database, ...args)
    stopping.push(process.stop)
    return process
  }
  const money = async () => {
    const payer = await Payer.make(devnet, 1_000_000n)
    const to = Payer.receiver()
    const moved = async () => await devnet.balanceOf(to)
    return { payer, to, moved }
  }
  const gas = async (value: bigint) => await client.setBalance({ address: relayer, value })
  const isIn = async (transaction: string) => {
    const receipt = await client.getTransactionReceipt({ hash: transaction as Hex })
    const block = await client.getBlock({ blockHash: receipt.blockHash })
    return receipt.status === "success" && block.transactions.includes(transaction as Hex)
  }
  const settled = (outcome: Outcome): string => {
    assert.equal(outcome._tag, "Settled", JSON.stringify(outcome))
    return outcome._tag === "Settled" ? outcome.transaction : ""
  }
  const sent = (outcome: Outcome): Hex => {
    assert.equal(outcome._tag, "Pending", JSON.stringify(outcome))
    const transaction = outcome._tag === "Pending" ? outcome.transaction : undefined
    assert.ok(transaction, "no transaction is known")
    return transaction as Hex
  }
  /** Turns of the worker until the settlement has come to this state. */
  const becomes = async (process: Process, id: string, state: string) => {
    const until = Date.now() + 60_000
    for (;;) {
      await process.reconcile()
      const row = await process.stateOf(id)
      if (row?.state === state) return row
      assert.ok(Date.now() < until, `it is ${row?.state} (${row?.reason}), not ${state}`)
      await pause(100)
    }
  }
  /** Mines without being asked, or stops. */
  const mining = async (millis: number) => await client.setIntervalMining({ interval: millis / 1000 })
  const baseFee = async (gwei: bigint) => {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * 1_000_000_000n })
    await client.mine({ blocks: 1 })
  }
  await client.setAutomine(false)
  await gas(10n ** 20n)
  const stop = () => Promise.all(stopping.map((stop) => stop()))
  const whenOver = (stop: () => Promise<unknown>) => stopping.push(stop)
  return { opened, money, gas, isIn, settled, sent, becomes, mining, baseFee, whenOver, stop }
}
