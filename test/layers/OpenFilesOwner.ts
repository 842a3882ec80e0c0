import { Clock, Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { openSync } from "node:fs"
import { watch } from "#layers/Node/OpenFiles.ts"
import { setClock } from "../services/SetClock.ts"

// A process that opens all it may, for a minute and a bit, and whose clock is set back meanwhile. Prints what it logged as JSON.
const said: Array<unknown> = []
const logger = Logger.make(({ logLevel, message }) => said.push([logLevel, message].flat()))
const opened: Array<number> = []
const openAll = Effect.sync(() => {
  try {
    for (;;) opened.push(openSync("/dev/null", "r"))
  } catch {
    // That was the last one.
  }
})
const program = Effect.gen(function* () {
  const { clock, set } = yield* setClock
  yield* Effect.forkChild(Effect.provideService(watch, Clock.Clock, clock), { startImmediately: true })
  yield* TestClock.adjust("5 seconds")
  const before = said.length
  yield* openAll
  yield* TestClock.adjust("10 seconds")
  const first = said.length
  set.by = -86_400_000
  yield* TestClock.adjust("1 minute")
  return { before, first, after: said.length, said: said[0] }
})
const told = await Effect.runPromise(program.pipe(Effect.provide([TestClock.layer(), Logger.layer([logger])])))
process.stdout.write(JSON.stringify(told))
