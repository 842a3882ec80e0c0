import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, statfsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import * as Turnpike from "../../bench/gateway/Turnpike.ts"
import { install, isInstalled } from "./Packages.ts"
import type { Row, Server } from "./World.ts"

const interop = join(import.meta.dirname, "..")
const flags = process.argv.slice(2).filter((word) => word.startsWith("--"))
/** The scripts to run: all, unless the command line has a part of the name of some. */
const chosen = process.argv.slice(2).filter((word) => !word.startsWith("--"))
const patience = 900_000

/** The client of version 1 and what it drags in fill half a gigabyte. */
const wantsV1 = (): boolean => {
  if (flags.includes("--no-v1")) return false
  const { bavail, bsize } = statfsSync(interop)
  return flags.includes("--v1") || isInstalled(join(interop, "x402-v1")) || bavail * bsize > 4e9
}

/** One process each: none sees what another did to its globals. */
const scripts = [
  "x402/fetch.mjs",
  "x402/upto.mjs",
  "x402/extensions.mjs",
  "x402/axios.mjs",
  ...(wantsV1() ? ["x402-v1/fetch.mjs"] : []),
  "x402/svm.mjs",
  "x402-web3/clients.mjs",
  "mpp-solana/clients.mjs",
  "x402/mppx.mjs",
  "x402/attacks.ts",
  "x402/facilitator.ts",
  "svm/run.mjs",
  "webhooks/verify.mjs",
  "webhooks/readme.mjs",
  "channel/listen.mjs",
  "channel/readme.mjs",
  "runtimes/runtimes.mjs",
  "ucp/client.ts",
  "chain/chain.ts",
  "chain/clients.ts"
]
  .filter((script) => chosen.length === 0 || chosen.some((part) => script.includes(part)))
  .map((script) => join(interop, script))
  .filter((script) => existsSync(script))

const say = (line: string) => process.stdout.write(`${line}\n`)

const show = (result: string, { client, ms, protocol, version, what }: Omit<Row, "passed" | "note">) => {
  const cells = [result.padEnd(6), client.padEnd(29), version.padEnd(8), protocol.padEnd(15)]
  say(`${cells.join(" ")} ${(ms > 0 ? String(ms) : "").padStart(6)}  ${what}`)
}

/** A line of the table, if this is one. Scripts that know no table say `ok …` or `FAIL …`. */
const parse = (line: string, script: string): Row | undefined => {
  if (line.startsWith(`{"`)) {
    const row = JSON.parse(line)
    if ("passed" in row) return { client: "", version: "", protocol: "", what: "", note: "", ms: 0, ...row }
  }
  const plain = /^(ok|FAIL)\s+(?:(\S+) (\d+\.\d+\.\S+?),?(?: [^:]*)?: )?(.+?)(?: (\d+\.\d) s)?$/.exec(line)
  if (plain === null) return undefined
  const [, word = "", client = basename(dirname(script)), version = "", what = "", seconds = "0"] = plain
  return { client, version, protocol: "", what, passed: word === "ok", note: "", ms: Number(seconds) * 1000 }
}

/** Runs one script and shows its lines; answers how many passed and failed. */
const run = async (script: string, server: Server) => {
  install(dirname(script))
  const started = performance.now()
  const child = spawn(process.execPath, [script], {
    cwd: dirname(script),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: patience,
    env: { ...process.env, INTEROP_SERVER: JSON.stringify(server) }
  })
  const complaints: Array<string> = []
  child.stderr.on("data", (chunk: Buffer) => complaints.push(chunk.toString()))
  const ended = once(child, "close")
  const rows: Array<Row> = []
  const add = (row: Row) => {
    rows.push(row)
    show(row.passed ? "ok" : "FAIL", { ...row, what: row.note === "" ? row.what : `${row.what}: ${row.note}` })
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const row = parse(line, script)
    if (row !== undefined) add(row)
    else if (rows.at(-1)?.passed === false) say(`       ${line}`)
  }
  const [code, signal] = await ended
  const name = `${basename(dirname(script))}/${basename(script)}`
  const whole = { client: name, version: "", protocol: "", what: "the whole script" }
  const ms = Math.round(performance.now() - started)
  if (code === 0 && rows.length === 0) add({ ...whole, passed: true, note: "", ms })
  if (code !== 0 && rows.every(({ passed }) => passed)) {
    add({ ...whole, passed: false, note: `ended with ${code ?? signal}`, ms })
    process.stderr.write(`${complaints.join("").slice(-4000)}\n`)
  }
  return rows
}

const main = Effect.gen(function* () {
  for (const script of scripts) install(dirname(script))
  const { credentials, port } = yield* Turnpike.start(yield* Turnpike.temporaryData)
  const server = {
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: credentials.api_key,
    accountId: credentials.account_id
  }
  say(`result ${"client".padEnd(29)} version  protocol            ms  what`)
  const rows: Array<Row> = []
  for (const script of scripts) rows.push(...(yield* Effect.promise(() => run(script, server))))
  say(`\nresult ${"client".padEnd(29)} version  protocol             cases`)
  for (const [, cases = []] of Map.groupBy(
    rows,
    ({ client, protocol, version }) => `${client} ${version} ${protocol}`
  )) {
    const [first] = cases
    const passed = cases.filter((row) => row.passed).length
    const what = passed === cases.length ? `${passed}` : `${passed} of ${cases.length}`
    if (first !== undefined) show(passed === cases.length ? "ok" : "FAIL", { ...first, ms: 0, what })
  }
  const failed = rows.filter(({ passed }) => !passed).length
  say(`\n${rows.length - failed} ok, ${failed} failed`)
  if (failed > 0) process.exitCode = 1
}).pipe(Effect.scoped)

NodeRuntime.runMain(main)
