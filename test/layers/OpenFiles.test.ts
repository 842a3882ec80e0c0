import { assert, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { bounded, OpenFiles, readLimit } from "#layers/Node/OpenFiles.ts"
import { scene } from "../http/ChannelHarness.ts"
import { ask, bearer, layer as server } from "../http/PlatformHarness.ts"
import { open } from "../services/AgentsHarness.ts"

it("the limit of open files is read as Linux tells it, and is none where it is not told", () => {
  const told = (soft: string) =>
    `Limit                     Soft Limit           Hard Limit           Units     
Max core file size        0                    unlimited            bytes     
Max open files            ${soft.padEnd(20)} 524288               files     
Max locked memory         8388608              8388608              bytes     
`
  assert.strictEqual(readLimit(told("1024")), 1024)
  assert.strictEqual(readLimit(told("unlimited")), Infinity)
  assert.strictEqual(readLimit(""), Infinity)
})

it.effect("where there is no limit as many connections are taken as are wanted", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* bounded(10_000), 10_000)
  }).pipe(Effect.provideService(OpenFiles, Effect.succeed(Infinity)))
)

layer(server().pipe(Layer.provide(Layer.succeed(OpenFiles, Effect.succeed(14)))), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("a server that may have few files open", (it) => {
  it.effect("leaves room for other requests beside the channels of agents", () =>
    Effect.gen(function* () {
      const { base, connect, one, path } = yield* scene
      for (let count = 0; count < 8; count++) yield* connect(bearer((yield* open(one)).sessionToken))
      const refused = yield* ask(`${base}${path}`, { headers: bearer((yield* open(one)).sessionToken) })
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
      assert.strictEqual((yield* ask(`${base}/health/ready`)).status, 200)
    })
  )
})

it.live("a process that may open nothing more says so, once a minute, also when its clock is set back", () =>
  Effect.gen(function* () {
    const owner = fileURLToPath(new URL("./OpenFilesOwner.ts", import.meta.url))
    const limited = ["-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, owner]
    const { stdout } = yield* Effect.promise(() => promisify(execFile)("sh", limited))
    const { after, before, first, said } = JSON.parse(stdout)
    assert.deepStrictEqual([before, first, after], [0, 1, 2])
    assert.strictEqual(said[0], "Error")
    assert.match(said[1], /ulimit -n.*callers are cut off/)
  })
)
