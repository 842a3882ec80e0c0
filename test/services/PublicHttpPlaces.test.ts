import { Duration } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import type { Exchange } from "#services/PublicHttp/Forward.ts"
import { type Entrant, Places } from "#services/PublicHttp/Places.ts"
import { brief, call, closeAll, gatewayTo, httpOrigin, rawCall, signal } from "./PublicHttpHarness.ts"

afterEach(closeAll)

const patient = Duration.minutes(2)

/** An origin that answers what is called `/quick`, and everything else when it is told to. */
const hangingOrigin = async () => {
  const hanging: Array<() => void> = []
  const arrived: Array<() => void> = []
  const port = await httpOrigin((request, response) => {
    if (request.url?.endsWith("/quick")) return response.end("quick")
    hanging.push(() => response.end("at last"))
    arrived.shift()?.()
  })
  /** Starts this many calls and waits until they are at the origin. */
  const fill = async (gateway: number, path: string, calls: number) => {
    const there = Array.from({ length: calls }, () => {
      const { promise, resolve } = signal()
      arrived.push(resolve)
      return promise
    })
    const answers = Array.from({ length: calls }, () => call(gateway, { path }))
    // Those that still hang when the test ends are cut off.
    for (const answer of answers) answer.catch(() => {})
    await Promise.all(there)
    return answers
  }
  return { port, fill, release: () => hanging.shift()?.() }
}

const ofSegment = (place: number) => (path: string) => path.split("/")[place] ?? ""
const endpointOf = ofSegment(1)
const payerOf = ofSegment(2)

describe("the places of an endpoint", () => {
  it("are its own: calls that hang at one endpoint are in the way of no other at the same origin", async () => {
    const origin = await hangingOrigin()
    const policy = { callsPerEndpoint: 2, connectionsPerOrigin: 2, placeTimeout: patient }
    const { port } = await gatewayTo(origin.port, { endpointOf, policy })
    await origin.fill(port, "/first/hang", 2)
    assert.strictEqual((await call(port, { path: "/second/quick" })).body, "quick")
  })

  it("are waited for briefly: who gets none is told so, and not that the origin was slow", async () => {
    const origin = await hangingOrigin()
    const policy = { callsPerEndpoint: 1, placeTimeout: brief }
    const { events, port } = await gatewayTo(origin.port, { endpointOf, policy })
    await origin.fill(port, "/first/hang", 1)
    assert.strictEqual((await call(port, { path: "/first/quick" })).body, "Crowded")
    assert.deepStrictEqual(events, ["Crowded"])
  })

  it("are free when the origin has said everything, however long the caller's answer is held back", async () => {
    const origin = await hangingOrigin()
    const held: Array<Exchange> = []
    const onHeaders = (exchange: Exchange) => {
      if (held.push(exchange) === 1) return
      exchange.send(exchange.headers)
      exchange.finish()
    }
    const policy = { callsPerEndpoint: 1, placeTimeout: brief }
    const { happened, port } = await gatewayTo(origin.port, { endpointOf, onHeaders, policy })
    const first = call(port, { method: "HEAD", path: "/first/quick" })
    await happened("headers 200")
    assert.strictEqual((await call(port, { path: "/first/quick" })).body, "quick")
    held[0]?.send(held[0].headers)
    held[0]?.finish()
    assert.strictEqual((await first).status, 200)
  })

  it("are no more after any number of calls that were answered", async () => {
    const origin = await hangingOrigin()
    const policy = { callsPerEndpoint: 1, placeTimeout: brief }
    const { port } = await gatewayTo(origin.port, { endpointOf, policy })
    for (let time = 0; time < 3; time++) await call(port, { path: "/first/quick" })
    await origin.fill(port, "/first/hang", 1)
    assert.strictEqual((await call(port, { path: "/first/quick" })).body, "Crowded")
  })

  it("are not taken by a body that comes to its end after its call was given up", async () => {
    const origin = await hangingOrigin()
    const policy = { callsPerEndpoint: 1, placeTimeout: brief }
    const { port } = await gatewayTo(origin.port, { endpointOf, uploadMillis: 100, policy })
    const late = rawCall(port, "POST /first/late HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n1")
    await late.contains("HTTP/1.1 50")
    late.socket.write("2")
    assert.strictEqual((await call(port, { path: "/first/quick" })).body, "quick")
  })

  it("go to who waits, in order, as soon as the origin has answered", async () => {
    const origin = await hangingOrigin()
    const { port } = await gatewayTo(origin.port, {
      endpointOf,
      policy: { callsPerEndpoint: 1, placeTimeout: patient }
    })
    const [first] = await origin.fill(port, "/first/hang", 1)
    const waiting = call(port, { path: "/first/quick" })
    origin.release()
    assert.strictEqual((await first)?.body, "at last")
    assert.strictEqual((await waiting).body, "quick")
    assert.strictEqual((await call(port, { path: "/first/quick" })).body, "quick")
  })

  it("come back when callers leave, and so do those in line", async () => {
    const origin = await hangingOrigin()
    const policy = { callsPerEndpoint: 1, placeTimeout: patient }
    const { happened, port } = await gatewayTo(origin.port, { endpointOf, policy })
    const [first] = await origin.fill(port, "/first/hang", 1)
    // As many may wait as may be there: of two more, one does.
    const more = [1, 2].map(() => rawCall(port, "GET /first/quick HTTP/1.1\r\nhost: x\r\n\r\n"))
    const refused = await Promise.race(more.map((one) => one.contains("Crowded").then(() => one)))
    for (const one of more) if (one !== refused) one.socket.destroy()
    await happened("CallerGone")
    const next = call(port, { path: "/first/quick" })
    origin.release()
    assert.strictEqual((await first)?.body, "at last")
    assert.strictEqual((await next).body, "quick")
  })

  it("are not all for one payer", async () => {
    const origin = await hangingOrigin()
    const policy = { callsPerEndpoint: 4, callsPerPayer: 2, placeTimeout: patient }
    const { port } = await gatewayTo(origin.port, { endpointOf, payerOf, policy })
    const [first] = await origin.fill(port, "/first/greedy/hang", 2)
    assert.strictEqual((await call(port, { path: "/first/greedy/quick" })).body, "PayerCrowded")
    assert.strictEqual((await call(port, { path: "/first/modest/quick" })).body, "quick")
    assert.strictEqual((await call(port, { path: "/second/greedy/quick" })).body, "quick")
    origin.release()
    await first
    assert.strictEqual((await call(port, { path: "/first/greedy/quick" })).body, "quick")
  })
})

/** A call that says what becomes of it. */
class Caller implements Entrant {
  readonly endpoint = "endpoint"
  readonly payer: string
  became = ""
  constructor(payer: string) {
    this.payer = payer
  }
  enter() {
    this.became = "entered"
  }
  stand() {
    this.became = "stands"
  }
  turnAway(reason: string) {
    this.became = reason
  }
}

describe("who comes and goes at an endpoint", () => {
  const became = async (callers: ReadonlyArray<Caller>) => {
    await Promise.resolve()
    return callers.map((caller) => caller.became)
  }
  const arriving = (places: Places, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const caller = new Caller(`payer ${index}`)
      places.take(caller)
      return caller
    })

  it("who leaves the line makes room in the line, and none at the origin", async () => {
    const places = new Places(1, 9)
    const [first, second] = arriving(places, 2)
    places.leave(second!)
    const [third, fourth] = arriving(places, 2)
    assert.deepStrictEqual(await became([first!, third!, fourth!]), ["entered", "stands", "Crowded"])
  })

  it("who comes in from the line has a place like everybody else", async () => {
    const places = new Places(1, 9)
    const [first, second] = arriving(places, 2)
    places.leave(first!)
    const [third] = arriving(places, 1)
    assert.deepStrictEqual(await became([second!, third!]), ["entered", "stands"])
    places.leave(second!)
    assert.deepStrictEqual(await became([third!]), ["entered"])
  })
})
