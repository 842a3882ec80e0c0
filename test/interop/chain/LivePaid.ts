import { expect } from "../x402/World.ts"
import { make, outcome, row } from "./LiveSale.ts"
import type { Shop } from "./LiveShop.ts"
import { type Client, type LiveWorld, price, unwatched } from "./LiveWorld.ts"

/** What one client buys while the chain goes well. */
export const run = async (world: LiveWorld, shop: Shop, client: Client): Promise<void> => {
  const { again, bought, calls, meet } = make(world, shop)
  const { account, moved, url } = await meet(client)
  const watched = unwatched()
  const call = (what: string, check: () => Promise<string | void>) => row(client, what, check)

  let first = { body: "", transaction: "" }
  await call("paid call, receipt, deposit", async () => {
    await calls(1, async () => {
      first = await bought(client, await world.pay(client, account, url, watched))
    })
    expect("answers", watched.statuses.join(" "), "402 200")
    await moved(price)
    return "200, chain and wallet moved by the price"
  })
  await call("the same header again", async () => {
    await calls(0, async () => {
      const second = await bought(client, await again(client, url, watched.header))
      expect("stored answer", JSON.stringify(second), JSON.stringify(first))
    })
    await moved(0n)
    return "the stored answer, nothing moves"
  })
  await call("the same header for another request", async () => {
    await calls(0, async () => {
      const refusal = await outcome(await again(client, `${url}?more`, watched.header))
      expect("answer", refusal, "409 PAYMENT_ALREADY_USED")
    })
    await moved(0n)
  })
  await call("4 at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, async () => bought(client, await world.pay(client, account, url)))
    )
    expect("transactions", new Set(answers.map(({ transaction }) => transaction)).size, 4)
    await moved(4n * price)
  })
  await call("origin answers 500: nothing moves", async () => {
    await calls(1, async () => {
      const response = await world.pay(client, account, `${url}?broken`)
      expect("status", response.status, 500)
      await response.arrayBuffer()
    })
    expect("transactions on their way", await world.waiting(), 0)
    await moved(0n)
  })
  await call("event stream", async () => {
    const response = await world.pay(client, account, `${url}?stream`)
    expect("status", response.status, 200)
    expect("events", await shop.events(response), "data: one\n\ndata: two\n\n")
    await world.isInBlock(client.receipt(response))
    await moved(price)
  })
  if (client.endpoint?.["schemes"] !== undefined) {
    await call("origin reports less than the maximum", async () => {
      await bought(client, await world.pay(client, account, `${url}?metered`))
      await moved(2_500n)
      return "that much moved"
    })
  }
  await call("payer with less than the price", async () => {
    const poor = await meet(client, price - 1n)
    const seen = unwatched()
    // Some clients answer the refusal, others throw it.
    await calls(0, () => world.pay(client, poor.account, poor.url, seen).catch(() => undefined))
    expect("a payment was sent", seen.header !== "", true)
    expect("answers that are no 402", seen.statuses.filter((status) => status !== 402).length, 0)
    await poor.moved(0n)
    return "402, origin not called"
  })
  await call("payer empties the account while the origin works", async () => {
    const rash = await meet(client)
    shop.before.set("rash", () => world.empty(rash.account))
    const seen = unwatched()
    await calls(1, () => world.pay(client, rash.account, `${rash.url}?rash`, seen).catch(() => undefined))
    shop.before.delete("rash")
    expect("answers that are no 402", seen.statuses.filter((status) => status !== 402).length, 0)
    await rash.earned(0n)
    return "402, the answer stays here"
  })
}
