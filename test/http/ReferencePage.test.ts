import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { chromium } from "playwright-core"
import { program } from "#layers/ShopBrowser/Program.ts"
import * as Harness from "./PlatformHarness.ts"
import { entrance } from "./PlatformHarness.ts"

const found = Effect.runSync(program)

/** The reference as a reader has it before him. */
const opened = Effect.gen(function* () {
  const { base } = yield* entrance
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launch({
        ...("path" in found && { executablePath: found.path }),
        chromiumSandbox: process.getuid?.() !== 0
      })
    ),
    (browser) => Effect.promise(() => browser.close())
  )
  const page = yield* Effect.promise(() => browser.newPage())
  const complaints: Array<string> = []
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
  page.setDefaultTimeout(60_000)
  yield* Effect.promise(() => page.goto(`${base}/docs`))
  return { complaints, page }
})

layer(Harness.layer(), { excludeTestServices: true, timeout: "120 seconds" })("the page of the reference", (it) => {
  it.effect.skipIf("missing" in found)("finds operations by words of their paths, names and summaries", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* opened
      const operations = page.locator(".opblock-tag-section .opblock-summary-path")
      yield* Effect.promise(() => operations.nth(100).waitFor())
      const look = (words: string, count: number) =>
        Effect.promise(async () => {
          await page.getByRole("searchbox", { name: "Find operations" }).fill(words)
          await operations.nth(count).waitFor({ state: "detached" })
          return (await operations.allTextContents()).map((path) => path.replaceAll("\u200b", ""))
        })
      assert.deepStrictEqual(yield* look("refund CREATE", 1), ["/v1/refunds"])
      assert.deepStrictEqual(yield* look("xyzzy", 0), [])
      yield* Effect.promise(() => page.getByText("No operation has all of these words.").waitFor())
      yield* Effect.promise(() => page.getByRole("main").getByRole("searchbox").waitFor())
      assert.deepStrictEqual(complaints, [])
    })
  )
})
