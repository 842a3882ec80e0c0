import { Duration, Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { refusalOf } from "#services/SiteVisits.ts"
import { nameServer } from "./NameServer.ts"
import { closeAll, httpOrigin, tcpOrigin } from "./PublicHttpHarness.ts"
import { closeVisits, told, visitOf } from "./SiteVisitsHarness.ts"

afterEach(async () => {
  await closeVisits()
  await closeAll()
})

/** Everything that means this machine, its networks or nobody, however it is written. */
const forbidden = [
  "127.0.0.1",
  "127.1",
  "127.255.255.254",
  "0x7f.1",
  "0x7f000001",
  "2130706433",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "１２７.０.０.１",
  "127。0。0。1",
  "%31%32%37.0.0.1",
  "0.0.0.0",
  "0",
  "localhost",
  "LOCALHOST.",
  "shop.localhost",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:a00:1]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::a9fe:a9fe]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "[fe80::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[fec0::1]",
  "[ff02::1]",
  "[2001:db8::1]",
  "[100::1]",
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "100.100.100.200",
  "169.254.169.254",
  "0xa9fea9fe",
  "168.63.129.16",
  "192.0.0.192",
  "198.18.0.1",
  "192.0.2.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "intranet",
  "printer.local",
  "nas.home.arpa",
  "metadata.google.internal"
]

/** A listed shop that redirects to whatever its query names, and a listener on the same machine that nobody listed. */
const surroundings = async () => {
  const secret = await tcpOrigin((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"))
  const port = await httpOrigin((request, response) => {
    const to = new URL(request.url ?? "", "http://shop").searchParams.get("to")
    response
      .writeHead(to === null ? 200 : 302, to === null ? {} : { location: Buffer.from(to).toString("latin1") })
      .end("shop")
  })
  return { domain: `127.0.0.1:${port}`, secret }
}
const most = { limits: { requests: 500 } }

describe("a visit", () => {
  it("asks no address that is not public, however a link spells it, on any port", async () => {
    const { domain, secret } = await surroundings()
    const visit = await visitOf(domain, { ...most, rules: { allowLoopback: true } })
    for (const host of forbidden) {
      for (const url of [`http://${host}/`, `https://${host}/sitemap.xml`, `http://${host}:${secret.port}/`]) {
        assert.strictEqual(await told(visit, url), "forbidden_address", url)
      }
    }
    assert.strictEqual(secret.connections(), 0)
  })

  it("is led to none by a redirect", async () => {
    const { domain, secret } = await surroundings()
    const visit = await visitOf(domain, most)
    for (const host of forbidden) {
      for (const url of [`http://${host}/`, `http://${host}:${secret.port}/`]) {
        assert.strictEqual(await told(visit, `/?to=${encodeURIComponent(url)}`), "forbidden_address", url)
      }
    }
    assert.strictEqual(secret.connections(), 0)
  })

  it("is led to a port of a listed host only if that pair is listed too", async () => {
    const { domain, secret } = await surroundings()
    const to = encodeURIComponent(`http://127.0.0.1:${secret.port}/`)
    assert.strictEqual(await told(await visitOf(domain), `/?to=${to}`), "forbidden_address")
    assert.strictEqual(secret.connections(), 0)
    const listed = await visitOf(domain, { rules: { allowHosts: [`127.0.0.1:${secret.port}`] } })
    assert.strictEqual(await told(listed, `/?to=${to}`), "200")
  })

  it("asks a robots.txt of no such address either", async () => {
    const { domain, secret } = await surroundings()
    const url = `http://127.0.0.1:${secret.port}/`
    const visit = await visitOf(domain)
    assert.strictEqual(await told(visit, { url, obeysRobots: true }), "forbidden_address")
    assert.strictEqual(
      await told(visit, { url: `/?to=${encodeURIComponent(url)}`, obeysRobots: true }),
      "forbidden_address"
    )
    assert.strictEqual(secret.connections(), 0)
  })

  it("goes to no name of which any address is not public, and judges it again each time", async () => {
    const records: Record<string, ReadonlyArray<string>> = {
      "rebind.com": ["127.0.0.1"],
      "mixed.com": ["93.184.215.14", "10.0.0.1"],
      "cgnat.com": ["100.64.0.1"]
    }
    const asked = await nameServer(records, async (address) => {
      const visit = await visitOf("rebind.com", { rules: { nameServers: [address] } })
      for (const url of ["/", "http://rebind.com/", "https://mixed.com/", "http://cgnat.com/", "/"]) {
        assert.strictEqual(await told(visit, url), "forbidden_address", url)
      }
    })
    assert.lengthOf(
      asked.filter((name) => name === "rebind.com"),
      6,
      "A and AAAA, three times"
    )
  })

  it("does not come back to us, by whichever of our names", async () => {
    const { domain } = await surroundings()
    const visit = await visitOf(domain, { rules: { ownHosts: ["own.example.com"] } })
    for (const url of ["https://turnpike.test/", "https://scanner.turnpike.test/v1", "http://own.example.com/"]) {
      const outcome = await Effect.runPromise(visit.ask({ url }))
      assert.deepInclude(outcome, { reason: "forbidden_address", detail: "OwnHost" })
    }
  })

  it("is made over the web alone", async () => {
    const { domain } = await surroundings()
    const visit = await visitOf(domain)
    for (const url of [
      "file:///etc/passwd",
      "ftp://127.0.0.1/",
      "data:text/html,x",
      "javascript:alert(1)",
      "http://"
    ]) {
      assert.strictEqual(await told(visit, url), "bad_request", url)
      assert.strictEqual(await told(visit, `/?to=${encodeURIComponent(url)}`), "302", url)
    }
  })

  it("tells a name that does not exist from name servers that do not answer", async () => {
    await nameServer({ "noaddress.com": [], "hanging.com": null }, async (address) => {
      const rules = { nameServers: [address] }
      const visit = await visitOf("noaddress.com", { rules })
      assert.strictEqual(await told(visit, "/"), "name_not_found")
      assert.strictEqual(await told(visit, "https://unknown.com/"), "name_not_found")
      const hasty = await visitOf("noaddress.com", { rules, policy: { connectTimeout: Duration.millis(300) } })
      const outcome = await Effect.runPromise(hasty.ask({ url: "https://hanging.com/" }))
      assert.isTrue(outcome._tag === "NoAnswer", JSON.stringify(outcome))
      const refusal = outcome._tag === "NoAnswer" ? refusalOf("shop.example.com", outcome) : undefined
      assert.strictEqual(refusal?._tag, "SCANNER_UNAVAILABLE")
    })
  })
})
