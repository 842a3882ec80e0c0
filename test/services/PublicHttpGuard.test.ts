import { Duration, Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import type { PublicHttp } from "#services/PublicHttp.ts"
import { nameServer } from "./NameServer.ts"
import { brief, closeAll, httpOrigin, publicHttp, tcpOrigin, tlsOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

/** What a call came to: its status, or why there was none, with the guard's own reason if it was the guard. */
const outcomeOf = (http: PublicHttp["Service"], url: string) =>
  Effect.runPromise(
    http.request({ method: "GET", url: new URL(url), headers: [], body: null, timeout: Duration.minutes(2) }).pipe(
      Effect.map(({ status }) => String(status)),
      Effect.catch(({ cause, reason }) =>
        Effect.succeed(cause instanceof Object && "reason" in cause ? `${reason}: ${cause.reason}` : reason)
      )
    )
  )

describe("the address guard at the socket", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1.",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::7f00:1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "１２７.０.０.１",
    "127。0。0。1",
    "localhost",
    "localhost.",
    "x.localhost",
    "0",
    "10.0.0.1",
    "169.254.169.254",
    "metadata.google.internal"
  ])("refuses %s", async (host) => {
    const http = await publicHttp({})
    assert.strictEqual(await outcomeOf(http, `http://${host}/`), "ForbiddenAddress: AddressNotPublic")
  })

  it("refuses a port that is not listed, before any connection", async () => {
    const origin = await tcpOrigin(() => {})
    const http = await publicHttp({ allowHosts: [`127.0.0.1:${origin.port + 1}`] })
    assert.strictEqual(await outcomeOf(http, `http://127.0.0.1:${origin.port}/`), "ForbiddenAddress: PortNotAllowed")
    assert.strictEqual(origin.connections(), 0)
  })

  it("refuses a name if any of its addresses is not public", async () => {
    const records = {
      "rebind.example": ["127.0.0.1"],
      "mixed.example": ["93.184.215.14", "10.0.0.1"],
      "families.example": ["93.184.215.14", "fd00:0000:0000:0000:0000:0000:0000:0001"]
    }
    await nameServer(records, async (address) => {
      const http = await publicHttp({ nameServers: [address] })
      assert.strictEqual(await outcomeOf(http, "http://rebind.example/"), "ForbiddenAddress: AddressNotPublic")
      assert.strictEqual(await outcomeOf(http, "http://mixed.example/"), "ForbiddenAddress: AddressNotPublic")
      assert.strictEqual(await outcomeOf(http, "http://families.example/"), "ForbiddenAddress: AddressNotPublic")
    })
  })

  it("asks for a name again at every connection, so an answer that changes is judged again", async () => {
    const asked = await nameServer({ "rebind.example": ["127.0.0.1"] }, async (address) => {
      const http = await publicHttp({ nameServers: [address] })
      for (let i = 0; i < 2; i++) await outcomeOf(http, "http://rebind.example/")
    })
    assert.lengthOf(asked, 4, "A and AAAA, twice")
  })

  it("finds a name that does not exist, or whose server never answers, unreachable within the connect timeout", async () => {
    await nameServer({ "hanging.example": null }, async (address) => {
      const http = await publicHttp({ nameServers: [address], connectTimeout: brief })
      assert.strictEqual(await outcomeOf(http, "http://unknown.example/"), "Unreachable")
      assert.strictEqual(await outcomeOf(http, "http://hanging.example/"), "Unreachable")
    })
  })

  it.each([
    ["asks for a name again when its server gave no answer", (asking: number) => asking === 0],
    ["takes one family's word when nothing is said of the other", (_: number, family: number) => family === 6]
  ])("%s", async (_, isLost) => {
    const far = async (address: string) => {
      const http = await publicHttp({ nameServers: [address], connectTimeout: Duration.seconds(4) })
      assert.strictEqual(await outcomeOf(http, "http://far.example/"), "ForbiddenAddress: AddressNotPublic")
    }
    await nameServer({ "far.example": ["127.0.0.1"] }, far, isLost)
  })

  it("never calls our own host, whatever else is allowed", async () => {
    const own = await httpOrigin((_, response) => response.end())
    const hosts = [`127.0.0.1:${own}`, `localhost:${own}`]
    const http = await publicHttp({ allowLoopback: true, allowHosts: hosts, ownHosts: [`127.0.0.1:${own}`] })
    assert.strictEqual(await outcomeOf(http, `http://127.0.0.1:${own}/`), "ForbiddenAddress: OwnHost")
    assert.strictEqual(await outcomeOf(http, `http://localhost:${own}/`), "ForbiddenAddress: OwnHost")
  })

  it("knows our own host by the port that an address without one means", async () => {
    await nameServer({}, async (address) => {
      const http = await publicHttp({ ownHosts: ["pay.example:443", "scan.example:80"], nameServers: [address] })
      assert.strictEqual(await outcomeOf(http, "https://pay.example/"), "ForbiddenAddress: OwnHost")
      assert.strictEqual(await outcomeOf(http, "http://scan.example/"), "ForbiddenAddress: OwnHost")
      assert.strictEqual(await outcomeOf(http, "http://pay.example/"), "Unreachable")
    })
  })

  it("tries an IPv6 address that is listed as URLs spell it", async () => {
    const origin = await tcpOrigin(() => {})
    const http = await publicHttp({ allowHosts: [`[::1]:${origin.port}`] })
    // Nobody listens there: what counts is that it was not refused.
    assert.strictEqual(await outcomeOf(http, `http://[::1]:${origin.port}/`), "Unreachable")
  })

  it("lets loopback through by address and by name where it is allowed, and no other private address", async () => {
    const origin = await httpOrigin((_, response) => response.end())
    const http = await publicHttp({ allowLoopback: true })
    assert.strictEqual(await outcomeOf(http, `http://127.0.0.1:${origin}/`), "200")
    assert.strictEqual(await outcomeOf(http, `http://localhost:${origin}/`), "200")
    assert.strictEqual(await outcomeOf(http, "http://192.168.1.1/"), "ForbiddenAddress: AddressNotPublic")
  })

  it("does not talk to a server whose certificate nobody vouches for", async () => {
    const origin = await tlsOrigin((_, response) => response.end("secret"))
    const http = await publicHttp({ allowHosts: [`127.0.0.1:${origin}`] })
    assert.strictEqual(await outcomeOf(http, `https://127.0.0.1:${origin}/`), "Unreachable")
  })
})
