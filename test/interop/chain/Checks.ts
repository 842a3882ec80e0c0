import { strict as assert } from "node:assert"
import { setTimeout as pause } from "node:timers/promises"
import { Duration } from "effect"
import type { Hex } from "viem"
import { newUuid } from "../../../services/NewId.ts"
import { addresses, type Devnet } from "./Devnet.ts"
import * as Evidence from "./Evidence.ts"
import * as Facilitator from "./LossyFacilitator.ts"
import * as Payer from "./Payer.ts"
import { start, type TestDatabase } from "./Platform.ts"
import * as Scene from "./Scene.ts"
import * as Upheaval from "./Upheaval.ts"

const { relayer } = Scene
const price = 10_000n
const later = { policy: { wait: Duration.seconds(2) } } as const

/** Everything that is checked on the chain, each by itself: a name, and what fails when it is not so. */
export const make = async (devnet: Devnet, database: TestDatabase) => {
  const { client } = devnet
  const scene = await Scene.make(devnet, database)
  const { baseFee, becomes, gas, isIn, mining, money, opened, sent, settled, whenOver } = scene

  const checks: Record<string, () => Promise<void>> = {
    "a settlement moves exactly the amount, in a block, and again nothing": async () => {
      const here = await opened()
      const { moved, payer, to } = await money()
      const before = await devnet.balanceOf(payer.account.address)
      const authorization = await payer.signs(to, price)
      await here.run(here.rail.verify(authorization))
      await mining(200)
      const id = newUuid()
      const transaction = settled(await here.settle(authorization, id))
      assert.ok(await isIn(transaction), "the transaction is in no block")
      assert.equal(await moved(), price)
      assert.equal(await devnet.balanceOf(payer.account.address), before - price)
      assert.equal(settled(await here.settle(authorization, id)), transaction)
      assert.deepEqual(await here.settle(authorization), { _tag: "Refused", reason: "duplicate_settlement" })
      // Brought when that was over, by the clock of the chain, which may be ahead.
      const since = new Date(Number((await client.getBlock()).timestamp) * 1000 + 1000)
      const nothing = { transaction: undefined, askedBefore: false, since }
      const again = await here.run(here.rail.settle({ id: newUuid(), authorization, amount: price, ...nothing }))
      assert.deepEqual(again, { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" })
      assert.equal(await moved(), price)
      await mining(0)
    },
    "20 at once from two processes: nonces in a row, each moved once": async () => {
      const processes = [await opened(), await opened()]
      const { moved, payer, to } = await money()
      const signed = await Promise.all(Array.from({ length: 20 }, () => payer.signs(to, price)))
      await mining(200)
      const outcomes = await Promise.all(signed.map((one, index) => processes[index % 2]!.settle(one)))
      assert.equal(new Set(outcomes.map(settled)).size, 20)
      assert.equal(await moved(), 20n * price)
      await mining(0)
    },
    "slow blocks: pending with its transaction, then confirmed with the same": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const id = newUuid()
      const hash = sent(await here.settle(await payer.signs(to, price), id))
      await client.mine({ blocks: 1 })
      await here.reconcile()
      assert.equal((await here.stateOf(id))?.state, "pending", "one block is not enough")
      await client.mine({ blocks: 1 })
      assert.equal((await becomes(here, id, "confirmed")).transaction, hash)
      assert.equal(await moved(), price)
    },
    "a dropped transaction is sent again": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const id = newUuid()
      const hash = sent(await here.settle(await payer.signs(to, price), id))
      await client.dropTransaction({ hash })
      await client.mine({ blocks: 3 })
      assert.equal(await moved(), 0n)
      const until = Date.now() + 60_000
      while (!(await client.getTransaction({ hash }).catch(() => undefined))) {
        assert.ok(Date.now() < until, "it was not sent again")
        await here.reconcile()
        await pause(100)
      }
      await client.mine({ blocks: 2 })
      assert.equal((await becomes(here, id, "confirmed")).transaction, hash)
      assert.equal(await moved(), price)
    },
    "a relayer without gas waits, and goes on when it has some": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      await gas(0n)
      const id = newUuid()
      const outcome = await here.settle(await payer.signs(to, price), id)
      assert.deepEqual(outcome, { _tag: "Pending", transaction: undefined })
      await gas(10n ** 20n)
      await mining(200)
      await becomes(here, id, "confirmed")
      assert.equal(await moved(), price)
      await mining(0)
    },
    "gas above the cap waits, and goes on when it is cheap": async () => {
      const here = await opened({ ...later, env: { TURNPIKE_MAX_FEE_GWEI: "20" } })
      const { moved, payer, to } = await money()
      await baseFee(100n)
      const id = newUuid()
      const outcome = await here.settle(await payer.signs(to, price), id)
      assert.deepEqual(outcome, { _tag: "Pending", transaction: undefined })
      await baseFee(1n)
      await mining(200)
      await becomes(here, id, "confirmed")
      assert.equal(await moved(), price)
      await mining(0)
    },
    "a transaction that pays too little is replaced under its nonce": async () => {
      const here = await opened({ ...later, env: { TURNPIKE_STUCK_AFTER: "1 second", TURNPIKE_MAX_FEE_GWEI: "500" } })
      const { moved, payer, to } = await money()
      const id = newUuid()
      const hash = sent(await here.settle(await payer.signs(to, price), id))
      const { nonce } = await client.getTransaction({ hash })
      await baseFee(100n)
      await mining(300)
      const row = await becomes(here, id, "confirmed")
      assert.equal((await client.getTransaction({ hash: row.transaction as Hex })).nonce, nonce)
      assert.equal(await moved(), price)
      await mining(0)
      await baseFee(1n)
    },
    "a payer who empties the account in between: refused with the reason": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const id = newUuid()
      sent(await here.settle(await payer.signs(to, price), id))
      const args = [Payer.receiver(), await devnet.balanceOf(payer.account.address)] as const
      await payer.mine(
        await payer.wallet.writeContract({ ...payer.token, ...payer.fees, functionName: "transfer", args })
      )
      await client.mine({ blocks: 2 })
      assert.equal((await becomes(here, id, "refused")).reason, "insufficient_funds")
      assert.equal(await moved(), 0n)
      await mining(200)
      const refused = await here.settle(await payer.signs(to, price))
      assert.deepEqual(refused, { _tag: "Refused", reason: "insufficient_funds" })
      await mining(0)
    },
    "somebody else brings the authorisation first: settled by that transaction": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const thief = await Payer.make(devnet, 0n)
      const id = newUuid()
      const authorization = await payer.signs(to, price)
      const hash = sent(await here.settle(authorization, id))
      const { input: data } = await client.getTransaction({ hash })
      const first = await thief.wallet.sendTransaction({ to: addresses.token, data, gas: 200_000n, ...thief.fees })
      await payer.mine(first)
      await client.mine({ blocks: 2 })
      assert.equal((await becomes(here, id, "confirmed")).transaction, first)
      assert.equal(await moved(), price)
    },
    "somebody else brings the authorisation before we do: settled by that transaction, and none of ours": async () => {
      const here = await opened()
      const { moved, payer, to } = await money()
      const thief = await Payer.make(devnet, 0n)
      const authorization = await payer.signs(to, price)
      await here.run(here.rail.verify(authorization))
      const since = new Date(Number((await client.getBlock()).timestamp) * 1000)
      const data = Facilitator.transferOf(authorization.payload)
      const first = await thief.wallet.sendTransaction({ to: addresses.token, data, gas: 200_000n, ...thief.fees })
      await payer.mine(first)
      await client.mine({ blocks: 2 })
      const id = newUuid()
      const order = { id, authorization, amount: price, transaction: undefined, askedBefore: false, since }
      assert.equal(settled(await here.run(here.rail.settle(order))), first)
      assert.deepEqual(await here.signed(id), [])
      assert.equal(await moved(), price)
    },
    "a reorganisation: what vanished is sent again and confirmed": async () => {
      const here = await opened({ ...later, env: { TURNPIKE_CONFIRMATIONS: "4" } })
      const { moved, payer, to } = await money()
      const authorization = await payer.signs(to, price)
      const before = await client.snapshot()
      const id = newUuid()
      const hash = sent(await here.settle(authorization, id))
      await client.mine({ blocks: 2 })
      assert.equal(await moved(), price)
      await here.reconcile()
      assert.equal((await here.stateOf(id))?.state, "pending", "not deep enough")
      await client.revert({ id: before })
      await client.mine({ blocks: 1 })
      assert.equal(await moved(), 0n, "the chain forgot it")
      await mining(300)
      assert.equal((await becomes(here, id, "confirmed")).transaction, hash)
      assert.equal(await moved(), price)
      await mining(0)
    },
    "a process that dies after it kept the transaction and before it sent it": async () => {
      devnet.door.swallow("eth_sendRawTransaction")
      const env = { TURNPIKE_RPC_URL: devnet.door.url }
      const dying = await start(devnet, database, { env, policy: { lease: Duration.seconds(2) } })
      const { moved, payer, to } = await money()
      const id = newUuid()
      const heard = devnet.door.heard()
      void dying.settle(await payer.signs(to, price), id).catch(() => undefined)
      await heard
      await dying.stop()
      devnet.door.pass()
      const [kept] = await dying.signed(id)
      const hash = kept?.["hash"] as Hex
      assert.ok(!(await client.getTransaction({ hash }).catch(() => undefined)), "it was sent")
      const next = await opened()
      await mining(200)
      assert.equal((await becomes(next, id, "confirmed")).transaction, hash)
      assert.equal(await moved(), price)
      await mining(0)
    },
    "Permit2, exact and upto: what was asked for moves, and no more": async () => {
      const here = await opened()
      const { moved, payer, to } = await money()
      const args = [addresses.permit2, 2n ** 255n] as const
      const early = await payer.permits(to, price)
      await assert.rejects(here.run(here.rail.verify(early)), /permit2_allowance_required|AUTHORIZATION_REFUSED/)
      await payer.mine(
        await payer.wallet.writeContract({ ...payer.token, ...payer.fees, functionName: "approve", args })
      )
      await here.run(here.rail.verify(early))
      await mining(200)
      assert.ok(await isIn(settled(await here.settle(early))))
      assert.equal(await moved(), price)
      const metered = await payer.permits(to, price, relayer)
      settled(await here.settle(metered, newUuid(), 2_500n))
      assert.equal(await moved(), price + 2_500n)
      const stolen = await payer.permits(to, price, payer.account.address)
      assert.deepEqual(await here.settle(stolen), { _tag: "Refused", reason: "permit2_simulation_failed" })
      await mining(0)
    },
    "a facilitator that settles and loses its answer: found on the chain": async () => {
      const { moved, payer, to } = await money()
      const helper = await Payer.make(devnet, 0n)
      const authorization = await payer.signs(to, price)
      const lossy = await Facilitator.start(helper, authorization)
      const here = await opened({
        ...later,
        env: { TURNPIKE_FACILITATOR_URL: lossy.url, TURNPIKE_RELAYER_KEY: undefined }
      })
      whenOver(lossy.stop)
      const id = newUuid()
      assert.equal((await here.settle(authorization, id))._tag, "Pending")
      await client.mine({ blocks: 3 })
      assert.equal((await becomes(here, id, "confirmed")).transaction, lossy.transaction())
      assert.equal(await moved(), price)

      // One that never sends: the chain says when it is too late.
      const other = await payer.signs(to, price)
      lossy.fails()
      const never = newUuid()
      assert.equal((await here.settle(other, never))._tag, "Pending")
      await client.increaseTime({ seconds: 700 })
      await client.mine({ blocks: 3 })
      assert.equal(
        (await becomes(here, never, "refused")).reason,
        "invalid_exact_evm_payload_authorization_valid_before"
      )
      assert.equal(await moved(), price)
    },
    "an authorisation that ends before gas is there is refused, and never used": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      await gas(0n)
      const id = newUuid()
      await here.settle(await payer.signs(to, price), id)
      await client.increaseTime({ seconds: 700 })
      await client.mine({ blocks: 3 })
      const row = await becomes(here, id, "refused")
      assert.equal(row.reason, "invalid_exact_evm_payload_authorization_valid_before")
      await gas(10n ** 20n)
      assert.equal(await moved(), 0n)
    },
    "one that ended unsent does not hold up those after it": async () => {
      const here = await opened(later)
      const { moved, payer, to } = await money()
      const [ended, next] = [newUuid(), newUuid()]
      const hash = sent(await here.settle(await payer.signs(to, price), ended))
      await client.dropTransaction({ hash })
      await client.increaseTime({ seconds: 700 })
      await client.mine({ blocks: 3 })
      await becomes(here, ended, "refused")
      await mining(200)
      await here.settle(await payer.signs(to, price), next)
      await becomes(here, next, "confirmed")
      assert.equal((await client.getTransactionReceipt({ hash })).status, "reverted")
      assert.equal(await moved(), price)
      await mining(0)
    },
    "a node of another chain: the process says so and does not start": async () => {
      const wrong = start(devnet, database, { env: { TURNPIKE_EVM_NETWORK: "base-mainnet" } })
      await assert.rejects(wrong, /node of chain 84532; base-mainnet is chain 8453/)
    }
  }
  return { checks: { ...checks, ...Evidence.make(devnet, scene), ...Upheaval.make(devnet, scene) }, stop: scene.stop }
}
