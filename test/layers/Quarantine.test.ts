import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { readPage } from "#domain/page/Page.ts"
import { startedAt, workingDirectory } from "#layers/EmbeddedPostgres/Processes.ts"
import { QuarantinePolicy } from "#layers/Quarantine/Policy.ts"
import { Owner } from "#services/FairTurns.ts"
import type { PageReading } from "#services/PageReading.ts"
import { chromiums, gone, missing } from "./ShopBrowserHarness.ts"
import { quarantineOf, quarantines } from "./Quarantine/Harness.ts"

const url = new URL("https://shop.example/products/mug")
const { patience } = QuarantinePolicy.defaultValue()
const odd = {
  program: new URL("Quarantine/OddProgram.ts", import.meta.url),
  start: Duration.minutes(1),
  patience: { ...patience, read: Duration.minutes(1) }
}
/** Which process read a page that says nothing. */
const processOf = (pages: PageReading["Service"], html = "") => Effect.map(pages.page(html, url), ({ title }) => title)
const reasonOf = (pages: PageReading["Service"], html: string) =>
  Effect.map(Effect.flip(pages.page(html, url)), ({ reason }) => reason)

/** Where they write; here it is one. */
const homeOf = (pids: ReadonlyArray<number>): string => {
  const [home = "", ...others] = pids.map((pid) => workingDirectory(pid) ?? "")
  assert.isEmpty(others)
  assert.isTrue(existsSync(home))
  return home
}

describe("the process that reads strangers' pages", () => {
  it.live("gives what the reader gives, of texts and of bytes", () =>
    Effect.gen(function* () {
      const { pages } = yield* quarantineOf({})
      const html = `<html lang=en><title>Tasse für alle</title><meta name=generator content="WooCommerce 9"><h1>Mug</h1><p>$12.00</p>
        <script type="application/ld+json">{"@type":"Product","name":"Mug","offers":{"price":"12.00"}}</script>`
      const facts = readPage(html, url)
      assert.deepStrictEqual(yield* pages.page(html, url), facts)
      const document = { bytes: new TextEncoder().encode(html), charset: "utf-8" }
      assert.deepStrictEqual(yield* pages.page(document, url), facts)
      const signs = { metas: facts.metas, headers: new Map<string, string>(), setCookies: [] }
      assert.strictEqual((yield* pages.platform(document, signs))?.id, "woocommerce")
      const map = "<urlset><url><loc>https://shop.example/products/mug</loc></url></urlset>"
      assert.strictEqual((yield* pages.sitemap(map, null))?.productEntries, 1)
      assert.isUndefined(yield* pages.sitemap(html, null))
      assert.strictEqual(document.bytes.length, new TextEncoder().encode(html).length, "what is ours stays ours")
    }).pipe(Effect.scoped)
  )

  it.live("reads for each in turn: who has many pages holds another up by one of them", () =>
    Effect.gen(function* () {
      const { pages } = yield* quarantineOf({})
      const read: Array<string> = []
      const page = (owner: string, name: string) =>
        Effect.tap(pages.page(`<title>${name}</title>`, url), ({ title }) =>
          Effect.sync(() => read.push(title ?? ""))
        ).pipe(Effect.provideService(Owner, owner), Effect.forkChild({ startImmediately: true }))
      // The first has its turn, and starts what reads, while the others come.
      const asked = [yield* page("a", "a1"), yield* page("a", "a2"), yield* page("a", "a3"), yield* page("b", "b1")]
      yield* Effect.forEach(asked, Fiber.join)
      assert.deepStrictEqual(read, ["a1", "a2", "b1", "a3"])
    }).pipe(Effect.scoped)
  )

  it.live("knows nothing of our environment", () =>
    Effect.gen(function* () {
      const { pages } = yield* quarantineOf(odd)
      process.env["TURNPIKE_QUARANTINE_TEST"] = "secret"
      const told = (yield* processOf(pages, "environment")) ?? ""
      delete process.env["TURNPIKE_QUARANTINE_TEST"]
      const known = Object.keys(JSON.parse(told) as Record<string, string>)
      const mayKnow = ["HOME", "LANG", "NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "PATH", "TMPDIR"]
      assert.isEmpty(known.filter((name) => !mayKnow.includes(name) && !/^(?:MALLOC_|NODE_COMPILE_CACHE$)/.test(name)))
    }).pipe(Effect.scoped)
  )

  it.live("is lost with a page that ends it, holds or hoards too much or never ends, and nothing else is", () =>
    Effect.gen(function* () {
      const { pages } = yield* quarantineOf({
        ...odd,
        patience: { ...patience, read: Duration.seconds(6) },
        memory: { heap: 32, most: 300_000_000, every: Duration.millis(50) }
      })
      const seen = new Set([yield* processOf(pages)])
      for (const html of ["end", "hold", "hoard", "hang"]) {
        assert.strictEqual(yield* reasonOf(pages, html), "Ended", html)
        seen.add(yield* processOf(pages))
      }
      assert.strictEqual(seen.size, 5)
    }).pipe(Effect.scoped)
  )

  it.live("is asked again for what another's page took with it, and one is started in its place for all", () =>
    Effect.gen(function* () {
      const { pages } = yield* quarantineOf({ ...odd, patience: { ...patience, read: Duration.seconds(20) } })
      const first = yield* processOf(pages)
      const others = yield* Effect.forkChild(
        Effect.forEach(["wait", "wait", "wait"], (html) => reasonOf(pages, html), { concurrency: "unbounded" })
      )
      const ending = yield* Effect.forkChild(reasonOf(pages, "end"))
      assert.strictEqual(yield* Fiber.join(ending), "Ended")
      // The page that ended two of them was tried twice; those who only wait were asked of the second as well.
      const next = yield* processOf(pages)
      assert.notStrictEqual(next, first)
      assert.lengthOf(quarantines(), 1)
      yield* Fiber.interrupt(others)
      assert.strictEqual(yield* processOf(pages), next, "nobody waits, and it lives on")
    }).pipe(Effect.scoped)
  )

  it.effect("ends when there has been nothing to read", () =>
    Effect.gen(function* () {
      const { pages } = yield* quarantineOf(odd)
      const first = yield* processOf(pages)
      yield* TestClock.adjust("74 seconds")
      assert.strictEqual(yield* processOf(pages), first)
      yield* TestClock.adjust("76 seconds")
      yield* gone(() => quarantines().length === 0)
      assert.notStrictEqual(yield* processOf(pages), first)
    }).pipe(Effect.scoped)
  )

  it.live("cannot be had where its program does not start, and says so of each page", () =>
    Effect.gen(function* () {
      const { browser, pages } = yield* quarantineOf({ program: new URL("Quarantine/Nowhere.ts", import.meta.url) })
      assert.strictEqual(yield* reasonOf(pages, ""), "Ended")
      assert.strictEqual(yield* browser.missing, missing)
      assert.isEmpty(quarantines())
    }).pipe(Effect.scoped)
  )

  it.live("does not outlive a server that is killed, nor does its browser, nor what they wrote", () =>
    Effect.gen(function* () {
      const owner = spawn(process.execPath, [join(import.meta.dirname, "Quarantine/Owner.ts")], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      yield* Effect.promise(() => once(owner.stdout, "data"))
      const pids = quarantines(owner.pid)
      assert.lengthOf(pids, 1)
      const home = homeOf(pids)
      const browsers = chromiums(pids[0])
      assert.lengthOf(browsers, missing === undefined ? 1 : 0)
      owner.kill("SIGKILL")
      yield* gone(() => [...pids, ...browsers].every((pid) => startedAt(pid) === undefined))
      assert.isFalse(existsSync(home))
    })
  )

  it.live("leaves nothing behind when the server ends", () =>
    Effect.gen(function* () {
      const home = yield* Effect.scoped(
        Effect.gen(function* () {
          const { pages } = yield* quarantineOf({})
          yield* pages.page("<title>Read</title>", url)
          return homeOf(quarantines())
        })
      )
      assert.isEmpty(quarantines())
      assert.isFalse(existsSync(home))
    })
  )
})
