import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Node from "#layers/Node.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"

/** The sentence an operator reads when there can be no server with this environment. */
const refusal = (environment: Record<string, string>) => {
  const settings = ConfigProvider.layer(ConfigProvider.fromUnknown(environment))
  const listening = Layer.build(Layer.fresh(Node.layer).pipe(Layer.provide(settings)))
  return Effect.map(Effect.exit(Effect.scoped(listening)), (exit) =>
    Exit.isFailure(exit) ? Node.reasonOf(exit.cause) : "none"
  )
}

/** A port that somebody else has. */
const takenPort = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    return server
  }),
  (server) => Effect.sync(() => server.close())
).pipe(Effect.map((server) => (server.address() as AddressInfo).port))

describe("a listener that cannot be", () => {
  it.live("says in a sentence that its port is taken, and what to set", () =>
    Effect.gen(function* () {
      const port = yield* takenPort
      assert.strictEqual(
        yield* refusal({ PORT: String(port) }),
        `127.0.0.1:${port} is taken by another program; set PORT.`
      )
    })
  )

  it.live("says in a sentence that its address is not of this machine", () =>
    Effect.gen(function* () {
      const said = yield* refusal({ PORT: "0", HOST: "192.0.2.1" })
      assert.strictEqual(said, "192.0.2.1:0 is no address of this machine; set HOST.")
    })
  )

  for (const name of ["TURNPIKE_PUBLIC_URL", "TURNPIKE_SCANNER_URL"]) {
    it.live(`names ${name} when nothing can be reached under it, and does not show it`, () =>
      Effect.gen(function* () {
        for (const wrong of [
          "localhost:4512",
          "ftp://pay.example",
          "https://pay.example/base?x=1#y",
          "https://pay.example/?",
          "https://pay.example#",
          "https://user:pw@pay.example",
          "https://user@pay.example",
          "https://:pw@pay.example",
          "httpsx://pay.example",
          "javascript:1",
          "pay.example",
          "https://pay.example/a;b",
          "https://pay.example//base",
          "https://pay.example/a%2Fb"
        ]) {
          const expected = `${name}: expected an http or https address with a plain path or none, without user, query and fragment, such as https://pay.example.`
          assert.strictEqual(yield* refusal({ PORT: "0", [name]: wrong }), expected, wrong)
        }
        assert.strictEqual(yield* refusal({ PORT: "0", [name]: "https://pay.example:8443/base/" }), "none")
      })
    )
  }

  it.live("names a number that is out of its bounds, or none", () =>
    Effect.gen(function* () {
      const connections = "TURNPIKE_MAX_CONNECTIONS: expected a whole number from 1 to 1000000."
      for (const wrong of ["0", "-1", "1.5", "many", "1000001"]) {
        assert.strictEqual(yield* refusal({ PORT: "0", TURNPIKE_MAX_CONNECTIONS: wrong }), connections, wrong)
      }
      for (const wrong of ["abc", "65536", "-1", "0x50"]) {
        assert.strictEqual(yield* refusal({ PORT: wrong }), "PORT: expected a whole number from 0 to 65535.", wrong)
      }
    })
  )

  it.live("says in a sentence what it expects of a setting of several words", () =>
    Effect.gen(function* () {
      const said = yield* refusal({ PORT: "0", TURNPIKE_ENVIRONMENT: "production" })
      assert.strictEqual(said, "TURNPIKE_ENVIRONMENT: expected one of sandbox, live.")
      for (const wrong of ["0", "x", "1.5", "-1", "1e3", "9999999999999999"]) {
        assert.strictEqual(
          yield* refusal({ PORT: "0", TURNPIKE_RATE_LIMIT: wrong }),
          "TURNPIKE_RATE_LIMIT: expected on, off, or requests a minute as a whole number from 1.",
          wrong
        )
      }
    })
  )

  it.live("names a proxy that is no whole address", () =>
    Effect.gen(function* () {
      for (const wrong of ["127.0.0.0/8", "foo", "10.0.0", "10.0.0.1:80", "[::1]"]) {
        assert.strictEqual(
          yield* refusal({ PORT: "0", TURNPIKE_TRUSTED_PROXIES: `10.0.0.1, ${wrong}` }),
          `TURNPIKE_TRUSTED_PROXIES: expected IP addresses with commas between them, and "${wrong}" is none.`
        )
      }
    })
  )

  it.live("limits by its environment, or as it is told in whatever case", () =>
    Effect.gen(function* () {
      for (const [settings, limit] of [
        [{}, 1_000],
        [{ TURNPIKE_ENVIRONMENT: "live" }, 6_000],
        [{ TURNPIKE_ENVIRONMENT: "live", TURNPIKE_RATE_LIMIT: "On" }, 6_000],
        [{ TURNPIKE_RATE_LIMIT: "OFF" }, undefined],
        [{ TURNPIKE_RATE_LIMIT: "7" }, 7]
      ] as const) {
        const provided = ConfigProvider.layer(ConfigProvider.fromUnknown(settings))
        const policy = yield* Layer.build(Layer.fresh(Node.policy).pipe(Layer.provide(provided)))
        assert.strictEqual(Context.get(policy, HttpPolicy).requestsPerMinute, limit, JSON.stringify(settings))
      }
    })
  )

  it.live("is named in brackets by an IPv6 address", () =>
    Effect.gen(function* () {
      const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "4020", HOST: "::1" }))
      const visitor = yield* Layer.build(Layer.fresh(Node.layerVisitor).pipe(Layer.provide(settings)))
      assert.strictEqual(Context.get(visitor, Deployment).publicUrl, "http://[::1]:4020")
    })
  )

  it.live("is named by loopback where it listens on every address", () =>
    Effect.gen(function* () {
      const named = [
        ["0.0.0.0", "http://127.0.0.1:4020"],
        ["::", "http://[::1]:4020"]
      ] as const
      for (const [HOST, url] of named) {
        const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "4020", HOST }))
        const visitor = yield* Layer.build(Layer.fresh(Node.layerVisitor).pipe(Layer.provide(settings)))
        assert.strictEqual(Context.get(visitor, Deployment).publicUrl, url)
      }
    })
  )

  it.live("takes a proxy's address however it is written", () =>
    Effect.gen(function* () {
      const settings = {
        PORT: "0",
        TURNPIKE_TRUSTED_PROXIES: " 10.0.0.1, ::FFFF:10.0.0.2,2001:DB8:0:0::1,::ffff:a00:3,fe80::1%eth0,"
      }
      const provided = ConfigProvider.layer(ConfigProvider.fromUnknown(settings))
      const policy = yield* Layer.build(Layer.fresh(Node.policy).pipe(Layer.provide(provided)))
      const { trustedProxies } = Context.get(policy, HttpPolicy)
      assert.deepStrictEqual(trustedProxies, ["10.0.0.1", "10.0.0.2", "2001:db8::1", "10.0.0.3", "fe80::1%eth0"])
    })
  )

  it.live("names a delay that it cannot read, and takes 0 as it is documented", () =>
    Effect.gen(function* () {
      for (const wrong of ["a while", "301 seconds", "100 days"]) {
        assert.include(
          yield* refusal({ PORT: "0", TURNPIKE_DRAIN_DELAY: wrong }),
          "TURNPIKE_DRAIN_DELAY: expected a duration of at most 5 minutes"
        )
      }
      for (const right of ["0", "5 minutes"]) {
        assert.strictEqual(yield* refusal({ PORT: "0", TURNPIKE_DRAIN_DELAY: right }), "none")
      }
    })
  )
})
