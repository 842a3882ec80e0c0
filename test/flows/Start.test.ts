import { assert, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync, sign } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { startFlags } from "../../scripts/cluster/Start.ts"
import { ask, must, payOnce } from "../chaos/Paying.ts"
import { isReady, pause } from "../chaos/Servers.ts"
import { Wire } from "../http/ChannelHarness.ts"

const root = join(import.meta.dirname, "../..")
const deno = ["@deno/linux-x64-glibc", "@deno/linux-arm64-glibc"]
  .map((name) => join(root, "node_modules", name, "deno"))
  .find((path) => existsSync(path))

const dirs: Array<string> = []
const freshDir = () => {
  const dir = mkdtempSync(join(tmpdir(), "turnpike-start-"))
  dirs.push(dir)
  return dir
}
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

const run = (
  dir: string,
  env: Record<string, string> = {},
  command = process.execPath,
  args: ReadonlyArray<string> = startFlags,
  behind: ReadonlyArray<string> = []
) => {
  const child = spawn(command, [...args, join(root, "src/main.ts"), ...behind], {
    env: { ...process.env, PORT: "0", TURNPIKE_DATA_DIR: dir, TURNPIKE_LOG_LEVEL: "Warn", ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const output = { text: "" }
  child.stdout.on("data", (chunk) => (output.text += chunk))
  child.stderr.on("data", (chunk) => (output.text += chunk))
  const exited = once(child, "exit") as Promise<[number | null]>
  /** It has ended, and all that it wrote is there. */
  const closed = once(child, "close") as Promise<[number | null]>
  return { child, output, exited, closed }
}

/** Waits for the banner, which names the address. */
const opened = async ({ child, output }: ReturnType<typeof run>): Promise<string> => {
  for (;;) {
    const base = /Base address\s+(\S+)/.exec(output.text)?.[1]
    if (base !== undefined && (await isReady(base))) return base
    if (child.exitCode !== null) throw new Error(output.text)
    await pause(25)
  }
}

const stop = async (child: ChildProcess, exited: Promise<[number | null]>) => {
  child.kill("SIGTERM")
  const [code] = await exited
  return code
}

const credentialsIn = (dir: string) => JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8"))

const when = async (holds: () => boolean) => {
  while (!holds()) await pause(10)
}

/** An origin that answers when it is told to. */
const heldOrigin = async () => {
  const arrived = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const server = createServer(async (_, response) => {
    arrived.resolve()
    await release.promise
    response.end("late, but whole")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, arrived: arrived.promise, release: release.resolve, server }
}

const priced = async (dir: string, originUrl: string) => {
  const { account_id, api_key, base_url } = credentialsIn(dir)
  const client = { key: String(api_key), bases: () => [String(base_url)] }
  const owned = { currency: "USDC", network: "base-sepolia" }
  const revenue = await must(client, "POST", "/v1/wallets", owned)
  const wallet = await must(client, "POST", "/v1/wallets", owned)
  await must(client, "POST", `/v1/wallets/${wallet.id}/fund`, { amount: "1.00", currency: "USDC" })
  const endpoint = await must(client, "POST", "/v1/x402/endpoints", {
    name: "Priced",
    path: "/",
    method: "GET",
    accountId: account_id,
    originUrl,
    walletId: revenue.id,
    ...owned
  })
  return { client, endpoint: String(endpoint.id), wallet: String(wallet.id) }
}

describe("a start on an empty directory", () => {
  it("serves, says where its pages are, keeps its credentials to its owner, and finds everything again the second time", async () => {
    const dir = freshDir()
    const first = run(dir)
    const shown = await opened(first)
    for (const page of ["/docs", "/dashboard"]) {
      assert.include(first.output.text, `${shown}${page}`)
      assert.strictEqual((await fetch(`${shown}${page}`)).status, 200)
    }
    const credentials = credentialsIn(dir)
    assert.strictEqual(statSync(join(dir, "credentials.json")).mode & 0o777, 0o600)
    assert.strictEqual(await stop(first.child, first.exited), 0)

    const second = run(dir)
    const base = await opened(second)
    assert.deepStrictEqual(credentialsIn(dir), {
      ...credentials,
      base_url: base,
      scanner_url: base,
      dashboard_url: `${base}/dashboard`
    })
    const context = await fetch(`${base}/v1/context`, { headers: { authorization: `Bearer ${credentials.api_key}` } })
    assert.strictEqual(context.status, 200)
    assert.strictEqual(await stop(second.child, second.exited), 0)
  })

  it("is refused to a second server while the first one runs, and says who has it", async () => {
    const dir = freshDir()
    const first = run(dir)
    await opened(first)
    const second = run(dir)
    const [code] = await second.closed
    assert.strictEqual(code, 1)
    assert.include(second.output.text, String(first.child.pid))
    assert.notInclude(second.output.text, "    at ", "a sentence, not a stack")
    assert.strictEqual(await stop(first.child, first.exited), 0)
  })

  it("works again after the server was killed, with Postgres left behind", async () => {
    const dir = freshDir()
    const first = run(dir)
    await opened(first)
    first.child.kill("SIGKILL")
    await first.exited
    const second = run(dir)
    await opened(second)
    assert.strictEqual(await stop(second.child, second.exited), 0)
  })
})

describe("a stop", () => {
  it("lets a paid call finish, then exits 0", async () => {
    const dir = freshDir()
    const server = run(dir)
    await opened(server)
    const origin = await heldOrigin()
    const { client, endpoint, wallet } = await priced(dir, origin.url)
    const paying = payOnce(client, endpoint, wallet)
    await origin.arrived
    server.child.kill("SIGTERM")
    origin.release()
    assert.strictEqual((await paying)?.outcome, "served")
    assert.strictEqual((await server.exited)[0], 0)
    origin.server.close()
  })
})

describe("a start that cannot succeed", () => {
  it("names the port that is taken", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const { port } = other.address() as AddressInfo
    const { closed, output } = run(freshDir(), { PORT: String(port) })
    assert.strictEqual((await closed)[0], 1)
    assert.include(output.text, String(port))
    other.close()
  })

  it("names the setting that is wrong", async () => {
    const { closed, output } = run(freshDir(), { TURNPIKE_ENVIRONMENT: "staging" })
    assert.strictEqual((await closed)[0], 1)
    assert.include(output.text, "TURNPIKE_ENVIRONMENT")
  })

  it("says that a server takes no arguments, before it makes anything", async () => {
    const dir = freshDir()
    const { output, closed } = run(dir, {}, process.execPath, startFlags, ["--port", "80"])
    const [code] = await closed
    assert.deepStrictEqual([code, readdirSync(dir)], [1, []])
    assert.match(output.text, /takes no arguments/)
  })
})

describe("under Deno", () => {
  it.skipIf(deno === undefined)("the same files serve a paid call and stop with 0", async () => {
    const dir = freshDir()
    const server = run(dir, {}, deno, ["run", "-A"])
    await opened(server)
    const origin = await heldOrigin()
    origin.release()
    const { client, endpoint, wallet } = await priced(dir, origin.url)
    assert.strictEqual((await payOnce(client, endpoint, wallet))?.outcome, "served")
    assert.strictEqual(await stop(server.child, server.exited), 0)
    origin.server.close()
  })

  it.skipIf(deno === undefined)("connections are read as they are under Node", async () => {
    const dir = freshDir()
    const server = run(dir, {}, deno, ["run", "-A"])
    const base = await opened(server)
    const port = Number(new URL(base).port)
    const origin = await heldOrigin()
    const { client, endpoint, wallet } = await priced(dir, origin.url)

    // Of a body that nobody asked for: what follows on that connection could be it, or another request.
    const expects = "Content-Length: 50000\r\nExpect: 100-continue\r\n"
    const expecting = new Wire(port, `GET /x402/${endpoint} HTTP/1.1\r\nHost: a\r\n${expects}\r\n`)
    await when(() => expecting.isOver)
    assert.match(expecting.head, /^HTTP\/1\.1 402 [\s\S]*\r\nConnection: close\b/)

    // Behind a request that is under way, what is no HTTP is heard of once.
    const { payment_request_id } = (await ask(client, `/x402/${endpoint}`, {})).body
    const { proof } = await must(client, "POST", "/v1/x402/pay", { payment_request_id, from_wallet_id: wallet })
    const paying = new Wire(port, `GET /x402/${endpoint} HTTP/1.1\r\nHost: a\r\nX-Payment-Proof: ${proof}\r\n\r\n`)
    await origin.arrived
    for (let piece = 0; piece < 15; piece++) {
      paying.socket.write("hello\r\n\r\n")
      await isReady(base)
    }
    origin.release()
    await when(() => paying.isOver)
    assert.deepStrictEqual(paying.text.match(/HTTP\/1\.1 \d+|late, but whole/g), ["HTTP/1.1 200", "late, but whole"])
    assert.notInclude(server.output.text, "MaxListeners")

    // Whoever listens to an agent's channel asks nothing more on that connection.
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64")
    const { data: agent } = await must(client, "POST", "/v1/agents", { name: "Listener", publicKey: raw })
    const { challenge } = await must(client, "POST", `/v1/agents/${agent.id}/challenge`)
    const signature = sign(null, Buffer.from(challenge), privateKey).toString("base64")
    const { sessionToken } = await must(client, "POST", `/v1/agents/${agent.id}/authenticate`, { challenge, signature })
    const bearer = `Authorization: Bearer ${sessionToken}\r\n`
    const connects = `GET /v1/agents/${agent.id}/connect HTTP/1.1\r\nHost: a\r\n${bearer}\r\n`
    const channel = new Wire(port, connects)
    await when(() => channel.names.includes("connected"))
    channel.socket.write(connects)
    const money = { amount: "0.10", currency: "USDC" }
    const { id: payer } = await must(client, "POST", "/v1/wallets", {})
    await must(client, "POST", `/v1/wallets/${payer}/fund`, money)
    await must(client, "POST", "/v1/transfers", { ...money, from_wallet_id: payer, to_wallet_id: agent.wallet_id })
    await when(() => channel.names.includes("transfer_completed") || channel.isOver)
    assert.deepStrictEqual(channel.names, ["connected", "transfer_completed"])
    channel.socket.destroy()
    assert.strictEqual(await stop(server.child, server.exited), 0)
    origin.server.close()
  })
})
