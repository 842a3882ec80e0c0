import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Context, Effect, Layer, Logger, Option } from "effect"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailChoice from "#layers/Rail.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Deployment } from "#services/Deployment.ts"
import { Rail } from "#services/Rail.ts"

const key = `0x${"5".repeat(64)}`

/** What the environment makes of the rail, and everything that was logged. */
const started = Effect.fnUntraced(function* (environment: "sandbox" | "live", env: Record<string, string>) {
  const lines: Array<string> = []
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(JSON.stringify(message)))])
  const deployment = { environment, publicUrl: "http://turnpike.test", scannerUrl: "http://turnpike.test" }
  const layer = RailChoice.layer.pipe(
    Layer.provide([
      ConfigProvider.layer(ConfigProvider.fromUnknown(env)),
      Layer.succeed(Deployment, deployment),
      logger
    ]),
    Layer.provide(Postgres.layerTest)
  )
  const built = yield* Effect.result(Layer.build(Layer.fresh(layer)))
  if (built._tag === "Success") {
    const rail = Context.getOption(built.success, Rail)
    const settlements = Context.getOption(built.success, ChainSettlements)
    return { rail: Option.getOrUndefined(rail), settlements: Option.isSome(settlements), refused: "", lines }
  }
  return { rail: undefined, settlements: false, refused: Node.reasonOf(Cause.fail(built.failure)), lines }
})

describe("the rail of a server", () => {
  it.effect("a live one refuses to start without, and says what to set", () =>
    Effect.gen(function* () {
      for (const env of [{}, { TURNPIKE_RPC_URL: "http://127.0.0.1:1" }, { TURNPIKE_RELAYER_KEY: key }]) {
        const { refused } = yield* started("live", env)
        assert.include(refused, "TURNPIKE_FACILITATOR_URL, or TURNPIKE_RPC_URL and TURNPIKE_RELAYER_KEY")
      }
    })
  )

  it.effect("two are one too many", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_FACILITATOR_URL: "https://facilitator.example", TURNPIKE_RELAYER_KEY: key }
      assert.include((yield* started("live", env)).refused, "keep one")
    })
  )

  it.effect("a sandbox has none, whatever is set", () =>
    Effect.gen(function* () {
      for (const env of [{}, { TURNPIKE_FACILITATOR_URL: "https://facilitator.example" }]) {
        const { rail, refused, settlements } = yield* started("sandbox", env)
        assert.deepStrictEqual([rail, refused, settlements], [undefined, "", false])
      }
    })
  )

  it.effect("a facilitator needs its address alone; a node beside it is a witness", () =>
    Effect.gen(function* () {
      const env = { TURNPIKE_FACILITATOR_URL: "https://facilitator.example" }
      for (const more of [{}, { TURNPIKE_RPC_URL: "http://127.0.0.1:1" }]) {
        const { rail, settlements } = yield* started("live", { ...env, ...more })
        assert.isDefined(rail)
        assert.isTrue(settlements)
      }
    })
  )

  it.effect(
    "a relayer starts although its node is away; neither its key nor the node's address is logged or shown",
    () =>
      Effect.gen(function* () {
        const env = { TURNPIKE_RPC_URL: "http://127.0.0.1:1/v2/secret-of-the-node", TURNPIKE_RELAYER_KEY: key }
        const { lines, rail } = yield* started("live", env)
        const kinds = yield* rail?.kinds ?? Effect.succeed([])
        assert.deepStrictEqual(
          kinds.map(({ network, scheme }) => `${network} ${scheme}`),
          ["base-mainnet exact", "base-mainnet upto"]
        )
        assert.match(String(kinds[1]?.extra["facilitatorAddress"]), /^0x[0-9a-f]{40}$/)
        const said = lines.join("\n")
        assert.include(said, "does not answer yet")
        assert.notInclude(said, "secret-of-the-node")
        assert.notInclude(said, "5555555555")
      })
  )

  it.effect("a key that is none is refused without being shown", () =>
    Effect.gen(function* () {
      const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
      for (const wrong of ["correct horse battery", "0".repeat(64), `0x${order}`]) {
        const env = { TURNPIKE_RPC_URL: "http://127.0.0.1:1", TURNPIKE_RELAYER_KEY: wrong }
        const { lines, refused } = yield* started("live", env)
        assert.strictEqual(
          refused,
          "TURNPIKE_RELAYER_KEY: expected a private key of secp256k1 in 64 hexadecimal digits."
        )
        assert.notInclude(lines.join("\n"), wrong)
      }
    })
  )

  it.effect("an address that is not of the web is refused by the name of its setting, without being shown", () =>
    Effect.gen(function* () {
      for (const [name, env] of [
        ["TURNPIKE_FACILITATOR_URL", { TURNPIKE_FACILITATOR_URL: "ftp://secret.example" }],
        ["TURNPIKE_RPC_URL", { TURNPIKE_RPC_URL: "secret.example:443", TURNPIKE_RELAYER_KEY: key }],
        [
          "TURNPIKE_RPC_URL",
          { TURNPIKE_FACILITATOR_URL: "https://facilitator.example", TURNPIKE_RPC_URL: "ftp://secret.example" }
        ]
      ] as const) {
        assert.strictEqual((yield* started("live", env)).refused, `${name} is no http or https address.`)
      }
      const withPassword = { TURNPIKE_FACILITATOR_URL: "https://me:secret@facilitator.example" }
      const { refused } = yield* started("live", withPassword)
      assert.strictEqual(refused, "TURNPIKE_FACILITATOR_URL has a user or a password in it, which are not sent.")
    })
  )
})
