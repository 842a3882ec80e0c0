// A process that visits by a browser, and where it is cramped has opened all it may before. Prints what became of the visit.
import { Effect, Exit } from "effect"
import { openSync } from "node:fs"
import { browserOf, open } from "./ShopBrowserHarness.ts"

const opened: Array<number> = []
const openAll = Effect.sync(() => {
  try {
    for (;;) opened.push(openSync("/dev/null", "r"))
  } catch {
    // That was the last one.
  }
})
const visit = Effect.gen(function* () {
  const browser = yield* browserOf({})
  if (process.argv[2] === "cramped") yield* openAll
  const { isBroken, show } = yield* open(browser, "http://shop.example/")
  return { shown: yield* show(new URL("http://shop.example/")), isBroken: isBroken() }
})
const exit = await Effect.runPromiseExit(Effect.scoped(visit))
process.stdout.write(JSON.stringify(Exit.isSuccess(exit) ? exit.value : String(exit.cause)))
process.exit()
