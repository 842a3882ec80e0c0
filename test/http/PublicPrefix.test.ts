import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import type { AddressInfo } from "node:net"
import { Endpoints } from "#services/Endpoints.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { ScannerSales } from "#services/ScannerSales.ts"
import { Wallets } from "#services/Wallets.ts"
import { seller, serverWith } from "./GatewayHarness.ts"
import { password, person } from "./People.ts"
import { ask } from "./PlatformHarness.ts"

const publicUrl = "https://example.com/turnpike"
const scannerUrl = "https://scanner.example/shops/"
const addresses = [publicUrl, scannerUrl.slice(0, -1)]

/** Asks for an address of ours through the proxy that it leads to, which takes the path of the public address off. */
const follow = Effect.fnUntraced(function* (address: string, init?: RequestInit) {
  const { server } = yield* HttpListener
  const { port } = server.address() as AddressInfo
  const ours = addresses.find((one) => address.startsWith(`${one}/`))
  assert.isDefined(ours, `${address} does not come through the proxy`)
  return yield* ask(`http://127.0.0.1:${port}${address.slice(ours?.length)}`, init)
})

const priceAt = (address: string, method: string) =>
  Effect.map(follow(address, { method }), ({ status }) => assert.strictEqual(status, 402, `${method} ${address}`))

const open = Effect.gen(function* () {
  const shop = yield* seller((_, response) => response.end("sunny"), { path: "/files/*" })
  yield* (yield* Wallets).create(shop.principal, { network: "base-sepolia" })
  yield* (yield* ScannerSales).open(shop.principal)
  sellers.push(shop)
  return shop
})
/** The first of them is whose our own goods are. */
const sellers: Array<Effect.Success<ReturnType<typeof seller>>> = []

/** What is there of a document when the newest endpoint is in it, and our own goods. */
const listed = Effect.fnUntraced(function* (path: string) {
  const { endpoint } = yield* open
  const at = publicUrl + path
  const isWhole = (text: string) => text.includes(endpoint.id) && text.includes("/v1/scanner/scans")
  const { body } = yield* follow(at).pipe(
    Effect.repeat({ until: ({ text }) => isWhole(text), schedule: Schedule.spaced("20 millis") })
  )
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as they come.
  return { at, json: body as any }
})

const behind = serverWith({ TURNPIKE_PUBLIC_URL: publicUrl, TURNPIKE_SCANNER_URL: scannerUrl })

layer(behind, { timeout: "60 seconds", excludeTestServices: true })("behind a proxy that takes a path off", (it) => {
  it.effect("every entry of the list is asked for where it says, and where its template says", () =>
    Effect.gen(function* () {
      const { json } = yield* listed("/v1/x402/discovery?limit=100")
      for (const { metadata, resource } of json.items) {
        const template = metadata.routeTemplate.replace("/*", "/more")
        yield* priceAt(resource, metadata.methods[0])
        yield* priceAt(new URL(template, resource).href, metadata.methods[0])
      }
    })
  )

  it.effect("every line of the manifest is a path of its host", () =>
    Effect.gen(function* () {
      const { at, json } = yield* listed("/.well-known/x402")
      for (const line of json.resources) {
        const [method, path] = line.split(" ")
        yield* priceAt(new URL(path.replace("/*", "/more"), at).href, method)
      }
    })
  )

  it.effect("every path of the OpenAPI document is one of its server", () =>
    Effect.gen(function* () {
      const { json } = yield* listed("/v1/x402/discovery/openapi.json")
      for (const [path, { servers = json.servers, ...operations }] of Object.entries<typeof json>(json.paths)) {
        for (const [method, operation] of Object.entries<typeof json>(operations)) {
          const template = operation["x-route-template"] ?? path
          yield* priceAt(servers[0].url + path, method.toUpperCase())
          yield* priceAt(servers[0].url + template.replace("/*", "/more"), method.toUpperCase())
        }
      }
    })
  )

  it.effect("the operations of the scanner are described at the scanner's own address", () =>
    Effect.gen(function* () {
      const { json } = yield* listed("/v1/x402/discovery/openapi.json")
      assert.deepStrictEqual(json.paths["/v1/scanner/scans"].servers, [{ url: scannerUrl.slice(0, -1) }])
    })
  )

  it.effect("a list goes on where its Link says", () =>
    Effect.gen(function* () {
      for (const path of ["/v1/x402/discovery", "/v1/x402/facilitator/discovery/resources"]) {
        yield* listed(`${path}?limit=100`)
        const at = `${publicUrl}${path}?limit=1`
        const { headers } = yield* follow(at)
        const next = /^<([^>]+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1] ?? ""
        const { body } = yield* follow(new URL(next, at).href)
        assert.deepInclude(body["pagination"], { limit: 1, offset: 1 })
      }
    })
  )

  const run = Effect.fnUntraced(function* (key: string, id: string) {
    const headers = { authorization: `Bearer ${key}` }
    const { body } = yield* follow(`${publicUrl}/v1/x402/endpoints/${id}/test`, { method: "POST", headers })
    return Object(body["data"])
  })

  it.effect("a test run pays for a call as the proxy hands it on", () =>
    Effect.gen(function* () {
      const { endpoint, key } = yield* open
      assert.deepInclude(yield* run(key, endpoint.id), { status: "passed" })
    })
  )

  it.effect("a test run of our own goods pays for a call at the scanner's path", () =>
    Effect.gen(function* () {
      const last = yield* open
      const { key, principal } = sellers[0] ?? last
      const { endpoints } = yield* (yield* Endpoints).list(principal, { limit: 10, offset: 0 })
      const good = endpoints.find(({ gatewayUrl }) => gatewayUrl === `${scannerUrl}v1/scanner/scans`)
      assert.deepInclude(yield* run(key, good?.id ?? ""), { status: "passed" })
    })
  )

  it.effect("a call is paid by its address at the scanner's host as well as at ours", () =>
    Effect.gen(function* () {
      const { key, principal } = yield* open
      const wallets = yield* Wallets
      const purse = yield* wallets.create(principal, { network: "base-sepolia" })
      yield* wallets.fund(principal, purse.id, { amount: 1_000_000n, currency: "USDC" })
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      for (const base of addresses) {
        const body = JSON.stringify({ url: `${base}/v1/scanner/scans`, from_wallet_id: purse.id })
        const paid = yield* follow(`${publicUrl}/v1/x402/pay`, { method: "POST", headers, body })
        assert.strictEqual(paid.status, 201, paid.text)
      }
    })
  )

  it.effect("the cookie of a session comes back to where sessions are", () =>
    Effect.gen(function* () {
      const { principal } = yield* open
      const { email } = yield* person(principal, "owner")
      const headers = { "content-type": "application/json" }
      const body = JSON.stringify({ email, password })
      const login = yield* follow(`${publicUrl}/v1/sessions`, { method: "POST", headers, body })
      assert.include((login.headers.get("set-cookie") ?? "").split("; "), "Path=/turnpike/v1/sessions")
    })
  )

  it.effect("the reference tries operations at the address that it was read at", () =>
    Effect.gen(function* () {
      const at = `${publicUrl}/docs`
      const { text } = yield* follow(at)
      const [, description = ""] =
        /<script id="swagger-spec" type="application\/json">([^<]+)<\/script>/.exec(text) ?? []
      const [server] = JSON.parse(description).servers
      assert.strictEqual(new URL(server.url, at).href, publicUrl)
    })
  )

  it.effect("the home page that the OpenAPI document names, and every page that it leads to, is there", () =>
    Effect.gen(function* () {
      const { json } = yield* listed("/v1/x402/discovery/openapi.json")
      const home = json["x-service-info"].docs.homepage
      const linked = (text: string) => [...text.matchAll(/<a href="([^"]+)"/g)].map(([, address = ""]) => address)
      const { headers, status, text } = yield* follow(home)
      assert.strictEqual(status, 200)
      assert.include(headers.get("content-type") ?? "", "text/html")
      assert.include(linked(text), `${publicUrl}/dashboard`)
      for (const address of linked(text)) {
        const there = yield* follow(address)
        assert.strictEqual(there.status, 200, address)
        if (!address.endsWith("/dashboard")) continue
        for (const further of linked(there.text)) assert.strictEqual((yield* follow(further)).status, 200, further)
      }
    })
  )

  it.effect("the page of errors leads to the reference", () =>
    Effect.gen(function* () {
      const at = `${publicUrl}/docs/errors`
      const [, reference = ""] = /<a href="([^"#]+)">API reference/.exec((yield* follow(at)).text) ?? []
      assert.strictEqual((yield* follow(new URL(reference, at).href)).status, 200)
    })
  )
})
