import { assert } from "vitest"
import { type Desk, hear, told } from "./Desk.ts"
import { api, type Client, must } from "./Paying.ts"
import { pause } from "./Servers.ts"
import { ways } from "./Ways.ts"

/** Desks that move money between five wallets in every way, one after the other, until `stop`. */
export const startTrading = async (
  client: Client,
  desks: number,
  fund: (wallet: string, amount: string) => Promise<void>
) => {
  const network = "base-sepolia"
  const walletOf = async (currency: string) =>
    String((await must(client, "POST", "/v1/wallets", { currency, network })).id)
  const dollars: Array<string> = []
  for (let index = 0; index < 5; index++) {
    const wallet = await walletOf("USDC")
    dollars.push(wallet)
    await fund(wallet, "20.00")
  }
  const euros = [await walletOf("EURC"), await walletOf("EURC")]
  const desk: Desk = {
    client,
    dollars,
    euros,
    told: {
      wallets: [...dollars, ...euros],
      transfers: new Map(),
      pending: new Set(),
      schedules: new Set(),
      streams: new Map()
    }
  }

  let stopped = false
  const working = Array.from({ length: desks }, async (_, index) => {
    for (let turn = index * 4; !stopped; turn++) await ways[turn % ways.length]?.(desk)
  })
  const stop = async () => {
    stopped = true
    await Promise.all(working)
    for (const id of desk.told.schedules) await endSchedule(desk, id)
    await Promise.all([...desk.told.pending].map((id) => settled(desk, id)))
  }
  return { told: desk.told, stop }
}

/** A schedule is withdrawn or was executed, never both; what it made is heard of now. */
const endSchedule = async (desk: Desk, id: string) => {
  const { status } = await told(api(desk.client, "POST", `/v1/scheduled-transfers/${id}/cancel`), 200, 409)
  const { body } = await told(api(desk.client, "GET", `/v1/scheduled-transfers/${id}`), 200)
  const { body: made } = await told(api(desk.client, "GET", `/v1/scheduled-transfers/${id}/executions`), 200)
  for (const transfer of made.data) hear(desk, transfer)
  const completed = made.data.filter((transfer: { readonly status: string }) => transfer.status === "completed")
  // An answer that was lost makes it cancelled for whoever asks again.
  assert.include(status === 200 ? ["cancelled"] : ["cancelled", "executed", "failed"], body.status)
  assert.strictEqual(completed.length, body.status === "executed" ? 1 : 0, `${id} is ${body.status}`)
}

/** How long a transfer may be on its way, in milliseconds: what the rail takes, a lease of a dead process, and its retries. */
const longestWay = 60_000

const settled = async (desk: Desk, id: string) => {
  const began = performance.now()
  for (;;) {
    const { body } = await told(api(desk.client, "GET", `/v1/transfers/${id}`), 200)
    hear(desk, body)
    if (!["pending", "processing"].includes(body.status)) return
    assert.isBelow(performance.now() - began, longestWay, `${id} is stuck ${body.status}`)
    await pause(250)
  }
}
