import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import { Cause, ConfigProvider, Context, Effect, Layer } from "effect"
import * as Node from "#layers/Node.ts"
import * as Outbound from "#layers/Outbound.ts"
import { Database } from "#services/Database.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { refuseTarget } from "#domain/OriginUrl.ts"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { listening } from "./Listening.ts"

const policyOf = (allowHosts: string) => {
  const url = "http://turnpike.test"
  const surroundings = Layer.mergeAll(
    ConfigProvider.layer(ConfigProvider.fromUnknown({ TURNPIKE_ALLOW_HOSTS: allowHosts })),
    Layer.succeed(Deployment, { environment: "sandbox", publicUrl: url, scannerUrl: url }),
    Layer.succeed(Database, { config: {}, embedded: false })
  )
  return Effect.map(Layer.build(Outbound.layer.pipe(Layer.provide(surroundings))), Context.get(PublicHttpPolicy))
}

describe("our own listener", () => {
  it.effect("is not to be called on loopback, whatever the public address is", () =>
    Effect.gen(function* () {
      const server = createServer()
      const port = Number((yield* listening(server)).split(":")[1])
      const listener = { server, intercept: () => Effect.void, onDrain: () => Effect.void, stopping: () => false }
      const policy = yield* Effect.provideService(policyOf(""), HttpListener, listener)
      const loopbackToo = { ...policy, allowLoopback: true }
      for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
        assert.strictEqual(refuseTarget(host, port, loopbackToo), "OwnHost", host)
      }
      assert.isUndefined(refuseTarget("127.0.0.1", port - 1, loopbackToo))
    })
  )
})

describe("TURNPIKE_ALLOW_HOSTS", () => {
  it.effect("is a list of hosts, with or without spaces and capitals", () =>
    Effect.gen(function* () {
      const { allowHosts } = yield* policyOf(" 127.0.0.1:7742 , Shop.Internal:8080,")
      assert.deepStrictEqual(allowHosts, ["127.0.0.1:7742", "shop.internal:8080"])
    })
  )

  it.effect("takes every spelling of an address for the one that is compared", () =>
    Effect.gen(function* () {
      const { allowHosts } = yield* policyOf("[0:0:0:0:0:0:0:1]:80,127.1:0443")
      assert.deepStrictEqual(allowHosts, ["[::1]:80", "127.0.0.1:443"])
    })
  )

  for (const wrong of [
    "localhost",
    "localhost:0",
    "localhost:65536",
    "http://localhost:80",
    "a@b:80",
    "::1:80",
    "10.0.0.0/8:80"
  ]) {
    it.effect(`names an entry that is no pair: ${wrong}`, () =>
      Effect.gen(function* () {
        const said = Node.reasonOf(Cause.fail(yield* Effect.flip(policyOf(`127.0.0.1:80,${wrong}`))))
        assert.strictEqual(
          said,
          `TURNPIKE_ALLOW_HOSTS: expected host:port pairs with commas between them, and "${wrong}" is none.`
        )
      })
    )
  }
})
