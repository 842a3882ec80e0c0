// Unmodified clients pay a live server whose chain is a real EVM: node test/interop/chain/clients.ts. A row of the table per case.
import { existsSync } from "node:fs"
import { join } from "node:path"
import { install, isInstalled } from "../x402/Packages.ts"
import * as Devnet from "./Devnet.ts"
import * as LivePaid from "./LivePaid.ts"
import { row } from "./LiveSale.ts"
import * as LiveShop from "./LiveShop.ts"
import * as LiveTrouble from "./LiveTrouble.ts"
import * as LiveWorld from "./LiveWorld.ts"

const folder = (name: string) => join(import.meta.dirname, "..", name)
const load = async (home: string): Promise<ReadonlyArray<LiveWorld.Client>> =>
  (await import(join(folder(home), "base.mjs"))).clients

install(folder("x402"))
const hasV1 = existsSync(join(folder("x402-v1"), "node_modules")) && isInstalled(folder("x402-v1"))
const clients = [...(await load("x402")), ...(hasV1 ? await load("x402-v1") : [])]

const shop = await LiveShop.open()
const devnet = await Devnet.start(LiveWorld.network)
const world = await LiveWorld.open(devnet, shop.origin)
try {
  for (const client of clients) await LivePaid.run(world, shop, client)
  await LiveTrouble.run(world, shop, clients)
  await row({ client: "turnpike", version: "", protocol: "" }, "doctor at the end", async () => {
    const { healthy, said } = world.doctor()
    if (!healthy) throw new Error(said)
    return said.split("\n").at(-1) ?? ""
  })
} finally {
  if (process.exitCode) process.stderr.write(world.said().slice(-4000))
  await world.close()
  devnet.stop()
  shop.close()
}
