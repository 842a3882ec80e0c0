import { setTimeout as pause } from "node:timers/promises"
import { attempt, expect, type Row } from "../x402/World.ts"
import type { Shop } from "./LiveShop.ts"
import type { Client, LiveWorld } from "./LiveWorld.ts"

/** A settlement that a dead process had taken is free only when its lease has ended. */
const patience = 240_000

/** One row of the table. */
export const row = (
  who: Pick<Row, "client" | "version" | "protocol">,
  what: string,
  run: () => Promise<string | void>
) => attempt(who, `live: ${what}`, run, patience)

/** The status of an answer, and what it gives for a reason. */
export const outcome = async (response: Response): Promise<string> => {
  const text = await response.text()
  return `${response.status} ${/"code":"([^"]*)"/.exec(text)?.[1] ?? ""}`.trim()
}

/** Buying from the shop through the live server. */
export const make = (world: LiveWorld, { origin }: Shop) => {
  const again = (client: Client, url: string, header: string) => fetch(url, { headers: { [client.header]: header } })

  /** Asks with the same payment for as long as it is told to wait like this. */
  const after = async (waiting: string, client: Client, url: string, header: string) => {
    for (;;) {
      const response = await again(client, url, header)
      if (response.status === 200) return response
      expect("meanwhile", await outcome(response), waiting)
      await pause(500)
    }
  }

  return {
    again,
    after,
    /** A payer and a seller, and what moves between them. */
    meet: async (client: Client, tokens = 1_000_000n) => {
      const account = await world.payer(client, tokens)
      const seller = await world.seller(client)
      return { account, url: seller.url, ...(await world.books(account.address, seller)) }
    },
    /** Ends the case unless the origin was called so often meanwhile. */
    calls: async (count: number, run: () => Promise<unknown>) => {
      const before = origin.hits.length
      await run()
      expect("calls of the origin", origin.hits.length - before, count)
    },
    /** Ends the case unless this is what was sold, with the transaction that paid for it. */
    bought: async (client: Client, response: Response) => {
      const body = await response.text()
      if (response.status !== 200) throw new Error(`status ${response.status}: ${body.slice(0, 300)}`)
      expect("answer of the origin", /^{"sold":\d+}$/.test(body), true)
      const transaction = client.receipt(response)
      await world.isInBlock(transaction)
      return { body, transaction }
    }
  }
}
export type Sale = ReturnType<typeof make>
