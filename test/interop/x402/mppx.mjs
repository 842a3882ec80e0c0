import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Receipt } from "mppx"
import { Mppx, evm } from "mppx/client"
import { assets } from "mppx/evm/client"
import { evmPayer } from "./Evm.ts"
import { suite, watched } from "./Suite.ts"
import { versionOf } from "./versionOf.ts"
import { attempt, expect, openOrigin, sell, server } from "./World.ts"

const { account, payer } = await evmPayer()
const methods = [evm({ account, networks: [84532], currencies: [assets.baseSepolia.USDC] })]

/** It prefers its own protocol where an endpoint offers both, and pays x402 where that is all there is. */
const protocols = {
  "MPP evm/charge": {
    header: "authorization",
    endpoint: { mpp: true },
    receipt: (response) => Receipt.fromResponse(response).reference
  },
  "x402 v2 exact": {
    header: "payment-signature",
    endpoint: { mpp: false },
    receipt: (response) =>
      JSON.parse(Buffer.from(response.headers.get("PAYMENT-RESPONSE"), "base64").toString()).transaction
  }
}

for (const [protocol, rest] of Object.entries(protocols)) {
  await suite({
    client: "mppx",
    version: versionOf("mppx"),
    protocol,
    network: "base-sepolia",
    payer,
    echoesQuote: true,
    pay: (url, init, watch) => Mppx.create({ methods, fetch: watched(watch), polyfill: false }).fetch(url, init),
    ...rest
  })
}

const paying = { client: "mppx", version: versionOf("mppx"), protocol: "MPP evm/charge" }
await attempt(paying, "beside a key that the origin wants", async () => {
  const origin = await openOrigin((hit, response) => response.end(hit.headers.authorization))
  const { url } = await sell(origin, "base-sepolia")
  const headers = { authorization: "Bearer origin-key" }
  const response = await Mppx.create({ methods, polyfill: false }).fetch(url, { headers })
  expect("status", response.status, 200)
  expect("key at the origin", await response.text(), headers.authorization)
  origin.close()
})

// Its own validator, over what the server says it sells and over an endpoint of ours. It has no account to pay from, and warns of a realm
// with a port.
const validator = join(import.meta.dirname, "node_modules/mppx/dist/bin.js")
const validated = async (...words) => {
  const home = mkdtempSync(join(tmpdir(), "mppx-"))
  const env = { ...process.env, HOME: home }
  const args = [validator, "validate", server.baseUrl, "--output-json", ...words]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 64_000_000 }).finally(() =>
    rmSync(home, { recursive: true, force: true })
  )
  const { discovery, endpoints, summary } = JSON.parse(stdout)
  const results = [
    ...(discovery?.checks ?? []),
    ...endpoints.flatMap(({ challenge, errorHandling }) => [challenge, errorHandling])
  ]
  const wrong = results
    .flat()
    .filter((one) => one !== undefined && !["pass", "skip"].includes(one.severity) && !/^Realm matches/.test(one.label))
  if (wrong.length > 0) throw new Error(wrong.map(({ detail, label }) => `${label}: ${detail}`).join("; "))
  return `${summary.passed} checks of ${endpoints.length} operations`
}
const checks = { client: "mppx validate", version: versionOf("mppx"), protocol: "MPP evm/charge" }
await attempt(checks, "what the server sells itself", () => validated())
await attempt(checks, "an endpoint", async () => {
  const origin = await openOrigin((_, response) => response.end("{}"))
  const { url } = await sell(origin, "base-sepolia", { method: "GET" })
  return validated("--endpoint", `GET:${new URL(url).pathname}`).finally(() => origin.close())
})
