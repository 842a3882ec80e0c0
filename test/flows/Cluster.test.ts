import { afterEach, assert, describe, it } from "@effect/vitest"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, request, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openFront } from "../../scripts/cluster/Front.ts"
import { freePort } from "../../scripts/cluster/Programs.ts"
import { api, must } from "../chaos/Paying.ts"
import { pause } from "../chaos/Servers.ts"

const cluster = join(import.meta.dirname, "../../scripts/cluster.ts")
const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

const serve = async (answer: RequestListener): Promise<{ readonly server: Server; readonly port: number }> => {
  const server = createServer((question, response) =>
    question.url === "/health/ready" ? void response.end("{}") : answer(question, response)
  ).listen(0, "127.0.0.1")
  await once(server, "listening")
  endings.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

const frontOf = async (...ports: ReadonlyArray<number>) => {
  const front = await openFront(0, ports)
  endings.push(front.close)
  return `http://127.0.0.1:${front.port}`
}

describe("the front of a cluster", () => {
  it("takes requests to the servers in turn, with where they came from, and answers as they do", async () => {
    const servers = await Promise.all(
      ["a", "b"].map((name) =>
        serve((question, response) => {
          response.writeHead(201, { "x-name": name, "x-from": String(question.headers["x-forwarded-for"]) })
          question.pipe(response)
        })
      )
    )
    const base = await frontOf(...servers.map(({ port }) => port))
    const names: Array<string | null> = []
    for (let count = 0; count < 4; count++) {
      const answer = await fetch(base, {
        method: "POST",
        body: `body ${count}`,
        headers: { "x-forwarded-for": "9.9.9.9" }
      })
      assert.deepStrictEqual([answer.status, await answer.text()], [201, `body ${count}`])
      assert.strictEqual(answer.headers.get("x-from"), "9.9.9.9, 127.0.0.1")
      names.push(answer.headers.get("x-name"))
    }
    assert.deepStrictEqual(names, ["a", "b", "a", "b"])
  })

  it("passes bytes on as they come, in both directions", async () => {
    const { port } = await serve((question, response) => {
      response.flushHeaders()
      question.on("data", (chunk) => response.write(`heard ${chunk}`))
      question.on("end", () => response.end())
    })
    const call = request(await frontOf(port), { method: "POST" })
    call.write("one")
    const [answer] = await once(call, "response")
    const ended = once(answer, "end")
    assert.strictEqual(String((await once(answer, "data"))[0]), "heard one")
    call.end("two")
    assert.strictEqual(String((await once(answer, "data"))[0]), "heard two")
    await ended
  })

  it("goes on to the next server where nobody listens, and never sends a request twice", async () => {
    let received = 0
    const dying = await serve((question) => {
      received++
      question.socket.destroy()
    })
    const gone = await serve(() => {})
    const base = await frontOf(gone.port, dying.port)
    gone.server.closeAllConnections()
    gone.server.close()
    const answer = await fetch(base, { method: "POST", body: "pay" })
    assert.deepStrictEqual([answer.status, received], [502, 1])
    const other = await serve((_, response) => void response.end("well"))
    const healthy = await frontOf(dying.port, other.port)
    dying.server.closeAllConnections()
    dying.server.close()
    for (let count = 0; count < 5; count++) assert.strictEqual(await (await fetch(healthy)).text(), "well")
  })

  it("says 503 when no server is ready, and cuts an answer whose server died", async () => {
    const empty = await fetch(await frontOf(await freePort()))
    assert.deepStrictEqual([empty.status, empty.headers.get("retry-after")], [503, "1"])
    const { port } = await serve((question, response) => {
      response.writeHead(200, { "content-length": "100" })
      response.write("half", () => question.socket.destroy())
    })
    const cut = await fetch(await frontOf(port))
    assert.strictEqual(await cut.text().catch(() => "cut"), "cut")
  })
})

describe("npm run cluster", () => {
  it("says what it expects of a port before it starts anything", { timeout: 60_000 }, () => {
    // The last port there is leaves none for the servers.
    for (const port of ["abc", "65535"]) {
      const { status, stderr } = spawnSync(process.execPath, [cluster, "2"], {
        env: { ...process.env, PORT: port },
        encoding: "utf8"
      })
      const said = "\nThe cluster cannot run: PORT: expected a whole number from 0 to 65533.\n"
      assert.deepStrictEqual([status, stderr], [1, said])
    }
  })

  it("serves behind one address, goes on when a server is killed, and stops cleanly", {
    timeout: 180_000
  }, async () => {
    const dir = mkdtempSync(join(tmpdir(), "turnpike-cluster-"))
    const port = await freePort()
    const child = spawn(process.execPath, [cluster, "2"], {
      env: { ...process.env, DATABASE_URL: "", NATS_URL: "", PORT: String(port), TURNPIKE_DATA_DIR: dir },
      stdio: ["ignore", "pipe", "pipe"]
    })
    // What it wrote is there to the end when it is closed.
    const closed = once(child, "close")
    endings.push(async () => {
      child.kill("SIGTERM")
      if (child.exitCode === null) await closed
      rmSync(dir, { recursive: true, force: true })
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk))
    while (!output.includes("Turnpike is open (2 servers)")) {
      if (child.exitCode !== null) assert.fail(output)
      await pause(50)
    }
    const client = {
      key: JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8")).api_key,
      bases: () => [`http://127.0.0.1:${port}`]
    }
    const { id } = await must(client, "POST", "/v1/wallets", { currency: "USDC", network: "base-sepolia" })
    const [, first] = /process (\d+)/.exec(output) ?? []
    process.kill(Number(first), "SIGKILL")
    for (let count = 0; count < 20; count++)
      assert.notStrictEqual((await api(client, "GET", `/v1/wallets/${id}`)).status, 404)
    assert.strictEqual((await api(client, "GET", `/v1/wallets/${id}`)).status, 200)
    child.kill("SIGINT")
    await closed
    assert.strictEqual(child.exitCode, 0, output)
    assert.include(output, "Server 1 on port")
  })
})
