// Reads one page and has nothing more to do: the process ends by itself, or it never does.
import { Effect } from "effect"
import * as PageReadingLayer from "#layers/PageReading.ts"
import { PageReading } from "#services/PageReading.ts"

const read = Effect.gen(function* () {
  const pages = yield* PageReading
  return yield* pages.page("<title>Read</title>", new URL("https://shop.example/"))
})
const { title } = await Effect.runPromise(Effect.provide(read, PageReadingLayer.layer))
console.log(title)
