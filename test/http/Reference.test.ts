import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { runInNewContext } from "node:vm"
import * as Harness from "./PlatformHarness.ts"
import { ask, entrance } from "./PlatformHarness.ts"

interface Settings {
  readonly deepLinking: boolean
  readonly plugins: ReadonlyArray<(system: object) => { readonly fn: Functions }>
  // biome-ignore lint/suspicious/noExplicitAny: a description of the API.
  readonly spec: any
}

interface Functions {
  // biome-ignore lint/suspicious/noExplicitAny: a part of a description of the API.
  readonly resolveSubtree: (spec: object, path: ReadonlyArray<string>) => Promise<{ readonly spec: any }>
}

/** What the page tells its library when a browser has loaded it. */
const settingsOf = (page: string): Settings => {
  const spec = /<script id="swagger-spec"[^>]*>([\s\S]*?)<\/script>/.exec(page)?.[1]
  const start = page.slice(page.lastIndexOf("window.onload"), page.lastIndexOf("</script>"))
  const told: Array<Settings> = []
  const window = { onload: () => {} }
  runInNewContext(start, {
    window,
    document: { getElementById: () => ({ textContent: spec }) },
    SwaggerUIBundle: (settings: Settings) => told.push(settings)
  })
  window.onload()
  const [settings] = told
  if (settings === undefined) throw new Error("the page starts nothing")
  return settings
}

layer(Harness.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the reference", (it) => {
  it.effect("has an address for each operation, and resolves each to what its references mean", () =>
    Effect.gen(function* () {
      const { base } = yield* entrance
      const { text } = yield* ask(`${base}/docs`)
      const { deepLinking, plugins, spec } = settingsOf(text)
      assert.isTrue(deepLinking)
      const [plugin] = plugins
      const { resolveSubtree } = plugin?.({ React: {} }).fn ?? assert.fail("no plugin")
      const resolved = (path: ReadonlyArray<string>) => Effect.promise(() => resolveSubtree(spec, path))
      const left = new Set<string>()
      for (const [path, operations] of Object.entries({ ...spec.paths })) {
        for (const method of Object.keys(Object(operations))) {
          const { spec: operation } = yield* resolved(["paths", path, method])
          assert.strictEqual(operation.operationId, spec.paths[path][method].operationId)
          for (const [reference] of JSON.stringify(operation).matchAll(/"\$ref":"[^"]*"/g)) left.add(reference)
        }
      }
      assert.deepStrictEqual([...left], [])
      const { spec: transfer } = yield* resolved(["paths", "/v1/transfers", "post"])
      const { schema } = transfer.responses["201"].content["application/json"]
      assert.deepStrictEqual(Object.keys(schema.properties), Object.keys(spec.components.schemas.Transfer.properties))
    })
  )

  it.effect("says to who runs no scripts where else the API is described", () =>
    Effect.gen(function* () {
      const { base } = yield* entrance
      const { text } = yield* ask(`${base}/docs`)
      const said = /<noscript>([\s\S]*?)<\/noscript>/.exec(text)?.[1] ?? ""
      for (const [, address = ""] of said.matchAll(/href="([^"]+)"/g)) {
        assert.strictEqual((yield* ask(address)).status, 200, address)
      }
      assert.include(said, `${base}/openapi.json`)
    })
  )

  it.effect("readers of screens find where each page of ours begins", () =>
    Effect.gen(function* () {
      const { base } = yield* entrance
      for (const path of ["/", "/dashboard", "/docs/errors", "/docs/scanner"]) {
        const { text } = yield* ask(base + path)
        assert.match(text, /<body>\s*<main>\s*<h1>[\s\S]*<\/main>\s*<\/body>/, path)
      }
    })
  )
})
