import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newUuid } from "#services/NewId.ts"
import { ask, entrance, layer as serverWith } from "./PlatformHarness.ts"

for (const limit of ["on", "off"]) {
  layer(serverWith({ TURNPIKE_RATE_LIMIT: limit }), { timeout: "60 seconds", excludeTestServices: true })(
    `proofs of agents with the rate limit ${limit}`,
    (it) => {
      it.effect("are tried ten times a minute by an address, for each operation, whoever the agent is", () =>
        Effect.gen(function* () {
          const { base } = yield* entrance
          const tries = (path: string, body: object) =>
            Effect.map(
              Effect.forEach(Array.from({ length: 11 }), () =>
                ask(`${base}/v1/agents/${newUuid()}/${path}`, {
                  method: "POST",
                  headers: { "content-type": "application/json" },
                  body: JSON.stringify(body)
                })
              ),
              (answers) => answers.map(({ status }) => status)
            )
          const signature = Buffer.alloc(64).toString("base64")
          const tenOf = (status: number) => [...new Array<number>(10).fill(status), 429]
          assert.deepStrictEqual(yield* tries("challenge", {}), tenOf(200))
          assert.deepStrictEqual(yield* tries("authenticate", { challenge: "c", signature }), tenOf(401))
          assert.deepStrictEqual(yield* tries("auth-keys/rotate", { proof: signature }), tenOf(401))
        })
      )
    }
  )
}
