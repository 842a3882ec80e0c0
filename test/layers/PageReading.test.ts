import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate as turn } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { readPage } from "#domain/page/Page.ts"
import * as PageReadingLayer from "#layers/PageReading.ts"
import { PageReadingPolicy } from "#layers/PageReading/Policy.ts"
import { PageReading } from "#services/PageReading.ts"

const url = new URL("https://shop.example/products/mug")
const odd = new URL("PageReading/OddThread.ts", import.meta.url)

const patient = { duration: Duration.minutes(1), turn: Duration.minutes(1), start: Duration.minutes(1) }
/** The real layer, as patient as a busy machine needs it unless the policy says otherwise. */
const reading = (policy: Partial<PageReadingPolicy> = {}) =>
  Layer.provide(
    Layer.fresh(PageReadingLayer.layer),
    Layer.succeed(PageReadingPolicy, { ...PageReadingPolicy.defaultValue(), ...patient, ...policy })
  )
/** Which thread read a page that says nothing. */
const threadOf = (pages: PageReading["Service"], html = "") => Effect.map(pages.page(html, url), ({ title }) => title)
const reasonOf = (pages: PageReading["Service"], html: string) =>
  Effect.map(Effect.flip(pages.page(html, url)), ({ reason }) => reason)

const filled = (piece: string) => piece.repeat(Math.ceil(3_000_000 / piece.length)).slice(0, 3_000_000)

describe("reading pages beside the server", () => {
  it.live("gives what the reader gives", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const html = `<html lang=en><title>Mug</title><meta name=generator content="WooCommerce 9"><h1>Mug</h1><p>$12.00</p>
        <form action=/cart method=post><input name=id value=1><button>Add to cart</button></form>
        <script type="application/ld+json">{"@type":"Product","name":"Mug","offers":{"price":"12.00"}}</script>`
      const facts = yield* pages.page(html, url)
      assert.deepStrictEqual(facts, readPage(html, url))
      const signs = { metas: facts.metas, headers: new Map<string, string>(), setCookies: [] }
      assert.strictEqual((yield* pages.platform(html, signs))?.id, "woocommerce")
      const map = "<urlset><url><loc>https://shop.example/products/mug</loc></url></urlset>"
      assert.strictEqual((yield* pages.sitemap(map, null))?.productEntries, 1)
      assert.isUndefined(yield* pages.sitemap(html, null))
    }).pipe(Effect.provide(reading()))
  )

  it.live("knows nothing of our environment but where compiled programs are kept", () =>
    Effect.gen(function* () {
      const { NODE_COMPILE_CACHE: before } = process.env
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (before === undefined) delete process.env["NODE_COMPILE_CACHE"]
          else process.env["NODE_COMPILE_CACHE"] = before
        })
      )
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-compiled-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      process.env["NODE_COMPILE_CACHE"] = directory
      const pages = yield* PageReading
      assert.strictEqual(yield* threadOf(pages, "environment"), `NODE_COMPILE_CACHE,${directory}`)
    }).pipe(Effect.provide(reading({ program: odd })), Effect.scoped)
  )

  it.live("lets everything else go on while a page takes long", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const fiber = yield* Effect.forkChild(pages.page(filled('<a href="/p">p</a>'), url))
      let turns = 0
      // A reader on this thread would let it have a turn or two.
      while (fiber.pollUnsafe() === undefined) {
        yield* Effect.promise(() => turn())
        turns++
      }
      const facts = yield* Fiber.join(fiber)
      assert.isAbove(facts.links.length, 1_000)
      assert.isAbove(turns, 100)
    }).pipe(Effect.provide(reading()))
  )

  it.live("reads JSON-LD of any depth as far as anybody wants to know it", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const deep = `${'{"@type":"Product","a":'.repeat(40_000)}1${"}".repeat(40_000)}`
      const facts = yield* pages.page(`<script type="application/ld+json">${deep}</script>`, url)
      assert.isAbove(facts.jsonLd.length, 30)
    }).pipe(Effect.provide(reading()))
  )

  it.live("gives up what takes too long, and reads the next page in another thread", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const first = yield* threadOf(pages)
      assert.strictEqual(yield* threadOf(pages), first)
      assert.strictEqual(yield* reasonOf(pages, "hang"), "Slow")
      assert.notStrictEqual(yield* threadOf(pages), first)
    }).pipe(Effect.provide(reading({ program: odd, duration: Duration.seconds(2) })))
  )

  it.live("loses a thread that runs out of memory, ends or throws, and nothing else", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const threads = new Set([yield* threadOf(pages)])
      for (const html of ["hoard", "end", "throw"]) {
        assert.strictEqual(yield* reasonOf(pages, html), "Ended")
        threads.add(yield* threadOf(pages))
      }
      assert.strictEqual(threads.size, 4)
    }).pipe(Effect.provide(reading({ program: odd, duration: Duration.seconds(60), memory: { young: 4, old: 16 } })))
  )

  it.live("keeps no more waiting than it may, and none for longer than it may", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      yield* threadOf(pages)
      const all = yield* Effect.forEach(["hang", "a", "b", "c"], (html) => reasonOf(pages, html), { concurrency: 4 })
      assert.deepStrictEqual(all, ["Slow", "Busy", "Busy", "Busy"])
      // What had its turn is over, so that there is room again.
      yield* threadOf(pages)
    }).pipe(
      Effect.provide(reading({ program: odd, waiting: 2, turn: Duration.millis(100), duration: Duration.seconds(2) }))
    )
  )

  it.live("lets go at once of a page that nobody wants any more", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const first = yield* threadOf(pages)
      const fiber = yield* Effect.forkChild(pages.page("hang", url))
      yield* Effect.promise(() => turn())
      yield* Fiber.interrupt(fiber)
      assert.notStrictEqual(yield* threadOf(pages), first)
    }).pipe(Effect.provide(reading({ program: odd, duration: Duration.minutes(10) })))
  )

  it.effect("ends a thread that has had nothing to do", () =>
    Effect.gen(function* () {
      const pages = yield* PageReading
      const first = yield* threadOf(pages)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(yield* threadOf(pages), first)
      yield* TestClock.adjust("31 seconds")
      assert.notStrictEqual(yield* threadOf(pages), first)
    }).pipe(Effect.provide(reading({ program: odd })))
  )

  it.live("leaves nothing that keeps the process alive", () =>
    Effect.gen(function* () {
      const script = fileURLToPath(new URL("PageReading/Once.ts", import.meta.url))
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, [script], { timeout: 60_000 })
      )
      assert.strictEqual(stdout, "Read\n")
    })
  )
})
