import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { FlowTime } from "#layers/ShopBrowser/BrowserRail.ts"
import { startedAt } from "#layers/EmbeddedPostgres/Processes.ts"
import * as Fixture from "../shops/Fixture.ts"
import { scriptShop } from "../shops/ScriptShop.ts"
import { browserOf, chromiums, gone, missing, mugOf, open, shopOf, userAgent } from "./ShopBrowserHarness.ts"

const set = (path: string) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ TURNPIKE_CHROMIUM: path }))

/** The path of a program that is no browser. */
const programOf = Effect.fnUntraced(function* (script: string) {
  const home = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-no-browser-"))),
    (home) => Effect.sync(() => rmSync(home, { recursive: true }))
  )
  const path = join(home, "chromium")
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
})

describe("a server without a browser", () => {
  it.effect("that was meant to have one says so when it starts", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      yield* set("/nowhere/chromium")(Effect.provide(browserOf({}), logger))
      assert.match(lines.join("\n"), /TURNPIKE_CHROMIUM.*\/nowhere\/chromium/)
      yield* set("off")(Effect.provide(browserOf({}), logger))
      assert.lengthOf(lines, 1)
    })
  )

  it.live("whose browser ends at its start writes down what it said, and tells strangers no more than that", () =>
    Effect.gen(function* () {
      const path = yield* programOf("echo No usable sandbox >&2\nexit 1")
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      const browser = yield* set(path)(Effect.provide(browserOf({}), logger))
      const { show } = yield* open(browser, "http://shop.example/")
      const shown = yield* show(new URL("http://shop.example/"))
      assert.deepStrictEqual(shown, { failure: "The browser of this server does not start." })
      assert.match(lines.join("\n"), /The browser does not start.*No usable sandbox/)
    })
  )

  it.live("whose browser does not come up stops without waiting for it, and leaves nothing running", () =>
    Effect.gen(function* () {
      const path = yield* programOf("while :; do sleep 1; done")
      const visit = yield* Effect.gen(function* () {
        yield* open(yield* set(path)(browserOf({})), "http://shop.example/")
      }).pipe(Effect.scoped, Effect.forkChild)
      yield* gone(() => chromiums().length === 1)
      // It would be given up after fifteen.
      const stopped = Effect.andThen(
        Fiber.interrupt(visit),
        gone(() => chromiums().length === 0)
      )
      yield* Effect.timeout(stopped, "10 seconds")
    }).pipe(Effect.scoped)
  )

  const settings: ReadonlyArray<readonly [setting: string, reason: RegExp]> = [
    ["off", /turned off/],
    ["/nowhere/chromium", /is not there/],
    ["/etc/passwd", /is not there/]
  ]
  for (const [setting, reason] of settings) {
    it.effect(`TURNPIKE_CHROMIUM="${setting}" says so, and every step is unknown, not failed`, () =>
      Effect.gen(function* () {
        const browser = yield* set(setting)(browserOf({}))
        const why = (yield* browser.missing) ?? ""
        assert.match(why, reason)
        assert.notInclude(why, "/", "a path of this machine")
        const { rail, requests, show } = yield* open(browser, "http://shop.example/")
        const cart = yield* rail.cart(mugOf("http://shop.example/"))
        assert.deepInclude(cart, { status: "unknown", detail: why, price: null, blockers: [] })
        assert.deepInclude(yield* rail.checkout, { status: "unknown", detail: why, total: null })
        assert.deepInclude(yield* rail.payment, { status: "unknown", detail: why, methods: [] })
        assert.deepStrictEqual(yield* show(new URL("http://shop.example/")), { failure: why })
        yield* rail.cleanUp
        assert.deepStrictEqual(requests(), [])
      })
    )
  }
})

if (missing !== undefined) {
  it("was not tried: this machine has no browser, and the service says so", () =>
    assert.match(missing ?? "", /no browser/))
} else {
  describe("the browser", () => {
    it.effect("shows a page as it is after its scripts, under our own name, and says what was asked", () =>
      Effect.gen(function* () {
        const { fixture, requests, show } = yield* shopOf()
        const shown = yield* show(new URL("/p/mug", fixture.url))
        assert.isTrue("html" in shown && shown.status === 200 && shown.html.includes("<h1>Blue mug</h1>"))
        const [first] = requests()
        assert.deepInclude(first, { method: "GET", url: `${fixture.url}/p/mug`, status: 200, user_agent: userAgent })
      })
    )

    it.effect("starts with the first visit, is shared, and closes when nobody needed it for a minute", () =>
      Effect.gen(function* () {
        const { pages } = scriptShop()
        const { domain, url } = yield* Fixture.open(pages)
        const browser = yield* browserOf({ allowHosts: [domain] })
        assert.isUndefined(yield* browser.missing)
        assert.lengthOf(chromiums(), 0)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* open(browser, url)
            yield* open(browser, url)
            assert.lengthOf(chromiums(), 1)
          })
        )
        yield* TestClock.adjust("59 seconds")
        assert.lengthOf(chromiums(), 1)
        yield* TestClock.adjust("2 seconds")
        yield* gone(() => chromiums().length === 0)
      })
    )

    it.effect("gives each visit cookies of its own", () =>
      Effect.gen(function* () {
        const { browser, fixture, log, show } = yield* shopOf()
        yield* show(new URL(fixture.url))
        yield* show(new URL("/cart", fixture.url))
        const other = yield* open(browser, fixture.url)
        yield* other.show(new URL(fixture.url))
        yield* other.show(new URL("/cart", fixture.url))
        assert.isAtLeast(log.carts.size, 2)
      })
    )

    it.effect("a browser that is killed is unknown, not failed, and the next visit gets another", () =>
      Effect.gen(function* () {
        const { browser, fixture, mug, rail, show } = yield* shopOf()
        yield* show(new URL(fixture.url))
        const [first = 0] = chromiums()
        process.kill(first, "SIGKILL")
        const cart = yield* rail.cart(mug)
        assert.deepInclude(cart, { status: "unknown", blockers: [] })
        const again = yield* open(browser, fixture.url)
        const shown = yield* again.show(new URL("/p/mug", fixture.url))
        assert.isTrue("html" in shown && shown.html.includes("Blue mug"))
        assert.notInclude(chromiums(), first)
      })
    )

    it.effect("a page that never comes to rest ends with its time, and is unknown", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({ script: "for (;;) {}" })
        const cart = yield* Effect.provideService(rail.cart(mug), FlowTime, Duration.seconds(2))
        assert.deepInclude(cart, { status: "unknown", detail: "The page was not done within 2 seconds." })
      })
    )

    it.effect("does not outlive a server that is killed", () =>
      Effect.gen(function* () {
        const owner = spawn(process.execPath, [join(import.meta.dirname, "ShopBrowserOwner.ts")], {
          stdio: ["ignore", "pipe", "inherit"]
        })
        yield* Effect.promise(() => once(owner.stdout, "data"))
        const pids = chromiums(owner.pid)
        assert.lengthOf(pids, 1)
        owner.kill("SIGKILL")
        yield* gone(() => pids.every((pid) => startedAt(pid) === undefined))
      })
    )

    it.effect("ends with the service, whatever its visits do", () =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const { fixture, show } = yield* shopOf({ script: "for (;;) {}" })
            yield* Effect.forkScoped(show(new URL("/p/mug", fixture.url)))
            assert.lengthOf(chromiums(), 1)
          })
        )
        yield* gone(() => chromiums().length === 0)
      })
    )
  })
}
