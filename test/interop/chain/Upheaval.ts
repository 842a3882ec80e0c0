import { strict as assert } from "node:assert"
import { Duration } from "effect"
import { encodeFunctionData } from "viem"
import { newUuid } from "../../../services/NewId.ts"
import { addresses, type Devnet, tokenAbi } from "./Devnet.ts"
import * as Platform from "./Platform.ts"
import type * as Scene from "./Scene.ts"

const price = 10_000n
const later = { policy: { wait: Duration.seconds(2) }, env: { TURNPIKE_STUCK_AFTER: "2 seconds" } } as const

/** What operators and issuers do to the chain, and what becomes of payments meanwhile. */
export const make = (devnet: Devnet, scene: Awaited<ReturnType<typeof Scene.make>>) => {
  const { client } = devnet
  const { becomes, mining, money, opened, sent } = scene

  return {
    "two deployments with one relayer key: each of their settlements moves once": async () => {
      const elsewhere = await Platform.database()
      const other = await Platform.start(devnet, elsewhere, later)
      const processes = [await opened(later), other]
      const { moved, payer, to } = await money()
      const orders: Array<{ readonly process: Platform.Process; readonly id: string }> = []
      for (let count = 0; count < 10; count++) {
        const process = processes[count % 2] ?? other
        const id = newUuid()
        orders.push({ process, id })
        await process.settle(await payer.signs(to, price), id)
      }
      await mining(200)
      await Promise.all(orders.map(({ id, process }) => becomes(process, id, "confirmed")))
      assert.equal(await moved(), 10n * price)
      await mining(0)
      await other.stop()
      await elsewhere.close()
    },
    "a reorganisation deeper than the confirmations: what was confirmed is brought again with the next settlement":
      async () => {
        const here = await opened(later)
        const { moved, payer, to } = await money()
        const before = await client.snapshot()
        const [lost, next] = [newUuid(), newUuid()]
        sent(await here.settle(await payer.signs(to, price), lost))
        await client.mine({ blocks: 3 })
        await becomes(here, lost, "confirmed")
        await client.revert({ id: before })
        assert.equal(await moved(), 0n, "the chain forgot it")
        await mining(200)
        await here.settle(await payer.signs(to, price), next)
        await becomes(here, next, "confirmed")
        assert.equal(await moved(), 2n * price)
        await mining(0)
      },
    "a token that its issuer pauses: nobody is served meanwhile, and what was promised goes through afterwards":
      async () => {
        const here = await opened(later)
        const { moved, payer, to } = await money()
        const pause = async (paused: boolean) => {
          const data = encodeFunctionData({ abi: tokenAbi, functionName: "pause", args: [paused] })
          return await payer.wallet.sendTransaction({
            to: addresses.token,
            data,
            gas: 100_000n,
            ...payer.fees
          })
        }
        const promised = await payer.signs(to, price)
        await here.run(here.rail.verify(promised))
        // In the block that comes next, and seen by the node already.
        await pause(true)
        const id = newUuid()
        await here.settle(promised, id)
        await client.mine({ blocks: 1 })
        const another = await payer.signs(to, price)
        await assert.rejects(here.run(here.rail.verify(another)), /simulation_failed|AUTHORIZATION_REFUSED/)
        await payer.mine(await pause(false))
        await mining(200)
        await becomes(here, id, "confirmed")
        assert.equal(await moved(), price)
        await mining(0)
      }
  } satisfies Record<string, () => Promise<void>>
}
