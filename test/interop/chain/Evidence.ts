import { strict as assert } from "node:assert"
import { setTimeout as pause } from "node:timers/promises"
import { Duration } from "effect"
import { encodeFunctionData, type Hex } from "viem"
import { newUuid } from "../../../services/NewId.ts"
import type { Authorization } from "../../../src/domain/protocol/Authorization.ts"
import { addresses, type Devnet, multicallAbi, permit2Abi, tokenAbi } from "./Devnet.ts"
import * as Facilitator from "./LossyFacilitator.ts"
import * as Payer from "./Payer.ts"
import type { Process } from "./Platform.ts"
import type * as Scene from "./Scene.ts"

const price = 10_000n
const later = { policy: { wait: Duration.seconds(2) } } as const

/** What follows from transactions of others: which of them end a settlement, and which do not. */
export const make = (devnet: Devnet, scene: Awaited<ReturnType<typeof Scene.make>>) => {
  const { client } = devnet
  const { becomes, money, opened, sent } = scene
  const viaDoor = { ...later, env: { TURNPIKE_RPC_URL: devnet.door.url } }
  const byFacilitator = (url: string) => ({
    ...later,
    env: { TURNPIKE_FACILITATOR_URL: url, TURNPIKE_RELAYER_KEY: undefined }
  })

  /** Some turns of the worker. */
  const turns = async (process: Process, times = 4) => {
    for (let turn = 0; turn < times; turn++) {
      await process.reconcile()
      await pause(450)
    }
  }
  const approves = async (payer: Payer.Payer) => {
    const args = [addresses.permit2, 2n ** 255n] as const
    const hash = await payer.wallet.writeContract({ ...payer.token, ...payer.fees, functionName: "approve", args })
    await payer.mine(hash)
  }
  /** Everything is sent, and nothing of it is in a block yet. */
  const under = async (here: Process, signed: ReadonlyArray<Authorization>) => {
    const ids: Array<string> = []
    for (const one of signed) {
      const id = newUuid()
      await here.run(here.rail.verify(one))
      sent(await here.settle(one, id))
      ids.push(id)
    }
    return ids
  }
  const signatures = (signed: ReadonlyArray<Authorization>) =>
    signed.map(({ payload }) => (payload as { payload: { signature: string } }).payload.signature.slice(2)).join("")
  const invalidating = ({ nonce }: Authorization) => {
    const number = BigInt(nonce)
    const args = [number >> 8n, 1n << (number & 255n)] as const
    return encodeFunctionData({ abi: permit2Abi, functionName: "invalidateUnorderedNonces", args })
  }
  const by = (payer: Payer.Payer, to: Hex, data: Hex, nonce?: number) =>
    payer.wallet.sendTransaction({ to, data, gas: 900_000n, ...payer.fees, ...(nonce === undefined ? {} : { nonce }) })

  return {
    "one transfer with the signatures of three permits in its call settles none of them": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      await approves(payer)
      const permits = await Promise.all([1, 2, 3].map(() => payer.permits(to, price)))
      const ids = await under(here, permits)
      let nonce = await client.getTransactionCount({ address: payer.account.address })
      for (const permit of permits) await by(payer, addresses.permit2, invalidating(permit), nonce++)
      const transfer = encodeFunctionData({ abi: tokenAbi, functionName: "transfer", args: [to, price] })
      await by(payer, addresses.token, `${transfer}${signatures(permits)}`, nonce)
      await client.mine({ blocks: 3 })
      await turns(here)
      assert.equal(await moved(), price)
      for (const id of ids) assert.equal((await here.stateOf(id))?.state, "pending", "nobody can say whose it was")
    },
    "one transfer beside three uses of nonces for nothing settles none of them": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const wanted = await Promise.all([1, 2, 3].map(() => payer.signs(to, price)))
      const ids = await under(here, wanted)
      const spoilt = await Promise.all(
        wanted.map(({ nonce }) => payer.signs(payer.account.address, 0n, { nonce: nonce as Hex }))
      )
      // The transfer stands right before the first of those uses, and after the last.
      const [before, after] = [await payer.signs(to, price), await payer.signs(to, price)]
      const calls = [before, ...spoilt, after].map(({ payload }) => ({
        to: addresses.token,
        data: Facilitator.transferOf(payload)
      }))
      const data = encodeFunctionData({ abi: multicallAbi, functionName: "run", args: [calls] })
      await by(payer, addresses.multicall, `${data}${signatures(wanted)}`)
      await client.mine({ blocks: 3 })
      for (const id of ids) {
        assert.equal((await becomes(here, id, "refused")).reason, "invalid_exact_evm_nonce_already_used")
      }
      assert.equal(await moved(), 2n * price)
    },
    "three payments that others bring in one transaction are settled by it, each with its own transfer": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const wanted = await Promise.all([1, 2, 3].map(() => payer.signs(to, price)))
      const ids = await under(here, wanted)
      const calls = wanted.map(({ payload }) => ({ to: addresses.token, data: Facilitator.transferOf(payload) }))
      const data = encodeFunctionData({ abi: multicallAbi, functionName: "run", args: [calls] })
      const hash = await by(payer, addresses.multicall, data)
      await client.mine({ blocks: 3 })
      const logs: Array<number | null> = []
      for (const id of ids) {
        const row = await becomes(here, id, "confirmed")
        assert.equal(row.transaction, hash)
        logs.push(row.transfer_log)
      }
      assert.equal(new Set(logs).size, 3)
      assert.equal(await moved(), 3n * price)
    },
    "an authorisation that its payer cancels first is refused, by both ways to sign": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      await approves(payer)
      const signed = await payer.signs(to, price)
      const permit = await payer.permits(to, price)
      const [one, other] = await under(here, [signed, permit])
      const nonce = await client.getTransactionCount({ address: payer.account.address })
      const args = [signed.nonce as Hex] as const
      const cancel = encodeFunctionData({ abi: tokenAbi, functionName: "cancelAuthorization", args })
      await by(payer, addresses.token, cancel, nonce)
      await by(payer, addresses.permit2, invalidating(permit), nonce + 1)
      await client.mine({ blocks: 3 })
      assert.equal((await becomes(here, one ?? "", "refused")).reason, "invalid_exact_evm_nonce_already_used")
      assert.equal((await becomes(here, other ?? "", "refused")).reason, "permit2_invalid_nonce")
      assert.equal(await moved(), 0n)
    },
    "a node that lags behind with receipts and logs makes nobody refuse what moved": async () => {
      const here = await opened(viaDoor)
      const { moved, payer, to } = await money()
      const id = newUuid()
      const hash = sent(await here.settle(await payer.signs(to, price), id))
      await client.mine({ blocks: 3 })
      for (const lagging of [
        ["eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getLogs"],
        ["eth_getTransactionReceipt"]
      ]) {
        devnet.door.answers(({ method }) =>
          lagging.includes(method) ? { result: method === "eth_getLogs" ? [] : null } : undefined
        )
        await turns(here, 2)
        assert.equal((await here.stateOf(id))?.state, "pending")
      }
      devnet.door.pass()
      assert.equal((await becomes(here, id, "confirmed")).transaction, hash)
      assert.equal(await moved(), price)
    },
    "transfers of nothing by a stranger hide no payment, and one brought long ago is found in spans": async () => {
      const here = await opened(viaDoor)
      const { moved, payer, to } = await money()
      await approves(payer)
      const thief = await Payer.make(devnet, 0n)
      const id = newUuid()
      const hash = sent(await here.settle(await payer.permits(to, price), id))
      const { input } = await client.getTransaction({ hash })
      let nonce = await client.getTransactionCount({ address: thief.account.address })
      const args = [payer.account.address, to, 0n] as const
      const nothing = encodeFunctionData({ abi: tokenAbi, functionName: "transferFrom", args })
      const send = (target: Hex, data: Hex, gas: bigint) =>
        thief.wallet.sendTransaction({ to: target, data, gas, ...thief.fees, nonce: nonce++ })
      await client.dropTransaction({ hash })
      for (let index = 0; index < 51; index++) await send(addresses.token, nothing, 100_000n)
      // Behind the call stands on whose account it is made, as facilitators write it.
      const first = await send(addresses.exactProxy, `${input}80218021`, 400_000n)
      await client.mine({ blocks: 3_000 })
      devnet.door.answers(({ method, params }) => {
        const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>
        return method === "eth_getLogs" && BigInt(toBlock ?? 0) - BigInt(fromBlock ?? 0) > 2_000n
          ? { error: { code: -32_005, message: "query exceeds max block range 2000" } }
          : undefined
      })
      assert.equal((await becomes(here, id, "confirmed")).transaction, first)
      devnet.door.pass()
      assert.equal(await moved(), price)
    },
    "what a facilitator moved and lost is found although it is valid for a day": async () => {
      const { moved, payer, to } = await money()
      const helper = await Payer.make(devnet, 0n)
      const authorization = await payer.signs(to, price, { seconds: 86_400n })
      const lossy = await Facilitator.start(helper, authorization)
      scene.whenOver(lossy.stop)
      const here = await opened(byFacilitator(lossy.url))
      const id = newUuid()
      assert.equal((await here.settle(authorization, id))._tag, "Pending")
      await client.mine({ blocks: 3 })
      assert.equal((await becomes(here, id, "confirmed")).transaction, lossy.transaction())
      assert.equal(await moved(), price)
    },
    "what a facilitator moved and lost is found by the relayer that replaces it": async () => {
      const { moved, payer, to } = await money()
      const helper = await Payer.make(devnet, 0n)
      const authorization = await payer.signs(to, price)
      const lossy = await Facilitator.start(helper, authorization)
      const env = { ...byFacilitator(lossy.url).env, TURNPIKE_RPC_URL: undefined }
      const before = await opened({ ...later, env })
      const id = newUuid()
      assert.equal((await before.settle(authorization, id))._tag, "Pending")
      await client.mine({ blocks: 3 })
      await before.stop()
      await lossy.stop()
      const after = await opened(later)
      assert.equal((await becomes(after, id, "confirmed")).transaction, lossy.transaction())
      assert.equal(await moved(), price)
    },
    "a relayer that cannot pay for gas says so before anything is owed": async () => {
      const { payer, to } = await money()
      const here = await opened(later)
      const authorization = await payer.signs(to, price)
      await scene.gas(0n)
      await assert.rejects(here.run(here.rail.verify(authorization)), /RAIL_UNAVAILABLE|no gas/)
      await scene.gas(10n ** 20n)
      await here.run(here.rail.verify(authorization))
    }
  } satisfies Record<string, () => Promise<void>>
}
