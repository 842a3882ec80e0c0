// A process that opens a browser, says so, and waits to be killed.
import { Effect } from "effect"
import { browserOf, open } from "./ShopBrowserHarness.ts"

await Effect.gen(function* () {
  const browser = yield* browserOf({})
  yield* open(browser, "http://shop.example/")
  process.stdout.write("open\n")
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.runPromise)
