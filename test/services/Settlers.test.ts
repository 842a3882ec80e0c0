import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Deployment } from "#services/Deployment.ts"
import * as Settlers from "#services/Gateway/Settlers.ts"
import { type Kind, Rail } from "#services/Rail.ts"
import { SandboxChain } from "#services/SandboxChain.ts"

const publicUrl = "https://turnpike.test"
const kind: Kind = {
  network: "solana-mainnet",
  scheme: "exact",
  extra: { feePayer: "payer" },
  signers: ["payer", "another"]
}

const nobody = { facilitator: undefined, signers: [] }

describe("who settles on a network", () => {
  it.effect("is asked again after the rail failed", () => {
    let asked = 0
    const kinds = Effect.suspend(() => (++asked === 1 ? Effect.die("simulated") : Effect.succeed([kind])))
    return Effect.gen(function* () {
      const settlers = yield* Settlers.make
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(settlers("solana-mainnet"), { ...nobody, feePayer: undefined })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(settlers("solana-mainnet"), {
        ...nobody,
        feePayer: "payer",
        signers: ["payer", "another"]
      })
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.mock(Rail, { kinds }),
          Layer.mock(SandboxChain, { feePayer: "sandbox", recentBlockhash: () => "" }),
          Layer.succeed(Deployment, { environment: "live", publicUrl, scannerUrl: publicUrl })
        )
      )
    )
  })
})
