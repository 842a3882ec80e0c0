import { assert, it } from "@effect/vitest"
import { Cause, Effect, Logger } from "effect"
import * as Presence from "#services/Ledger/Presence.ts"

it.effect(
  "what is said last of the ledger's connection is how it is, however often it came and went within a minute",
  () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const listening = Logger.layer([Logger.make(({ message }) => void said.push(String(message).slice(0, 26)))])
      const { came, failed, went } = Presence.make(Effect.void)
      const no = failed(Cause.fail(new Error("it starts")))
      yield* Effect.provide(Effect.all([no, came, went, came, no, came, went, came, went, came]), listening)
      const [none, lost, again] = [
        "The ledger has no database",
        "The ledger lost its databa",
        "The ledger has its databas"
      ]
      assert.deepStrictEqual(said, [none, again, lost, again])
    })
)
