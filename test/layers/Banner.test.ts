import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { TestConsole } from "effect/testing"
import * as Banner from "#layers/Banner.ts"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"

const greeting = Effect.fnUntraced(function* (allowLoopback: boolean) {
  const url = "http://127.0.0.1:4020"
  const surroundings = Layer.mergeAll(
    ConfigProvider.layer(ConfigProvider.fromUnknown({})),
    Layer.succeed(Deployment, { environment: "sandbox", publicUrl: url, scannerUrl: url }),
    Layer.succeed(Database, { config: {}, embedded: allowLoopback }),
    Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowLoopback })
  )
  yield* Layer.build(Banner.layer.pipe(Layer.provide(surroundings)))
  return (yield* TestConsole.logLines).join("\n")
})

describe("the banner", () => {
  it.effect("names the demo where its API on this machine may be called", () =>
    Effect.gen(function* () {
      assert.include(yield* greeting(true), "npm run demo")
    })
  )

  it.effect("does not name it where it would fail", () =>
    Effect.gen(function* () {
      const text = yield* greeting(false)
      assert.include(text, "http://127.0.0.1:4020")
      assert.notInclude(text, "npm run demo")
    })
  )
})
