import { setTimeout as pause } from "node:timers/promises"
import { expect } from "../x402/World.ts"
import { make, outcome, row } from "./LiveSale.ts"
import type { Shop } from "./LiveShop.ts"
import { type Client, type LiveWorld, price, unwatched } from "./LiveWorld.ts"

const pending = "503 SETTLEMENT_PENDING"

/** What goes wrong with the chain and with the server. All clients are in it at once. */
export const run = async (world: LiveWorld, shop: Shop, clients: ReadonlyArray<Client>): Promise<void> => {
  const { after, again, bought, calls, meet } = make(world, shop)
  const [first] = clients
  if (first === undefined) return
  const joining = async (client: Client) => ({ client, watched: unwatched(), ...(await meet(client)) })
  type Party = Awaited<ReturnType<typeof joining>>
  const gather = () => Promise.all(clients.map(joining))
  /** What the call came to; a connection that broke is `lost`. */
  const pay = ({ account, client, url, watched }: Party, query = "") =>
    world.pay(client, account, `${url}${query}`, watched).then(outcome, () => "lost")
  /** The same header is settled once, and from then on has its answer. */
  const settles = async ({ client, moved, url, watched }: Party, waiting: string, query = "") => {
    const one = await bought(client, await after(waiting, client, `${url}${query}`, watched.header))
    await moved(price)
    const other = await bought(client, await again(client, `${url}${query}`, watched.header))
    expect("stored answer", JSON.stringify(other), JSON.stringify(one))
    await moved(0n)
  }

  await row(first, "50 copies of one header at once", async () => {
    const { account, client, moved, url } = await joining(first)
    const header = await world.signed(client, account, url)
    await calls(1, async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, async () => outcome(await again(client, url, header)))
      )
      expect("answers 200", outcomes.filter((one) => one === "200").length > 0, true)
      const waiting = ["200", "409 PAYMENT_IN_PROGRESS", pending]
      expect("other answers", outcomes.filter((one) => !waiting.includes(one)).join(), "")
    })
    await moved(price)
    return "origin called once, paid once"
  })

  await row(first, "the node does not answer", async () => {
    const party = await joining(first)
    world.door.swallow("eth_call")
    await calls(0, async () => expect("answer", (await pay(party)).slice(0, 3), "503"))
    world.door.pass()
    await calls(1, () => settles(party, pending))
    return "503 and origin not called, then the same header pays"
  })

  const slow = await gather()
  await world.blocks(false)
  await calls(clients.length, async () => {
    const outcomes = await Promise.all(slow.map((party) => pay(party)))
    await world.blocks(true)
    for (const [index, party] of slow.entries()) {
      await row(party.client, "no block for longer than the server waits", async () => {
        expect("first answer", outcomes[index], pending)
        await settles(party, pending)
        return "503, then the same header 200 with the receipt, paid once"
      })
    }
  })

  const [dying, unsent, unanswered] = [await gather(), await joining(first), await joining(first)]
  const heard = Promise.withResolvers<void>()
  shop.before.set("hang", () => {
    heard.resolve()
    // Its caller is gone long before it would answer.
    return new Promise<void>(() => undefined)
  })
  await world.blocks(false)
  const lost = [...dying.map((party) => pay(party)), pay(unanswered, "?hang")]
  while ((await world.waiting()) < dying.length) await pause(50)
  await heard.promise
  world.door.swallow("eth_sendRawTransaction")
  const swallowed = world.door.heard()
  lost.push(pay(unsent))
  await swallowed
  await world.kill()
  shop.before.clear()
  world.door.pass()
  const outcomes = await Promise.all(lost)
  const before = shop.origin.hits.length
  await world.restart()
  for (const party of dying) {
    await row(party.client, "kill -9 between origin and block", async () => {
      expect(
        "answer of the dying server",
        outcomes.every((one) => one === "lost"),
        true
      )
      await party.moved(0n)
      const early = await again(party.client, party.url, party.watched.header)
      expect("before the block", await outcome(early), pending)
    })
  }
  await world.blocks(true)
  for (const party of dying) {
    await row(party.client, "restart after kill -9: blocks come", async () => {
      await settles(party, pending)
      return "settled once, then the stored answer"
    })
  }
  await row(first, "kill -9 before the transaction is sent, restart", async () => {
    await settles(unsent, pending)
    expect("calls of the origin since the kill", shop.origin.hits.length - before, 0)
    return "sent by the next process, settled once"
  })
  await row(first, "kill -9 while the origin works, restart", async () => {
    await calls(1, () => settles(unanswered, "409 PAYMENT_IN_PROGRESS", "?hang"))
    return "given back, the same header pays"
  })
}
