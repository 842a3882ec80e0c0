// A process that has pages read and a browser opened by another one, says so, and waits to be killed.
import { Effect } from "effect"
import { open } from "../ShopBrowserHarness.ts"
import { quarantineOf } from "./Harness.ts"

await Effect.gen(function* () {
  const { browser, pages } = yield* quarantineOf({})
  yield* pages.page("<title>Read</title>", new URL("http://shop.example/"))
  yield* open(browser, "http://shop.example/")
  process.stdout.write("open\n")
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.runPromise)
