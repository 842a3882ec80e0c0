import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Starting from "#layers/Node/Starting.ts"

const listening = Effect.acquireRelease(
  Effect.callback<{ readonly close: () => void; readonly base: string }>((resume) => {
    const answer = Starting.make("sandbox", () => "https://turnpike.example")
    const server = createServer(answer).listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resume(Effect.succeed({ close: () => server.close(), base: `http://127.0.0.1:${port}` }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

it.live("while nothing stands behind the listener a refusal says its code in its header, as every other does", () =>
  Effect.gen(function* () {
    const { base } = yield* listening
    const refused = yield* Effect.promise(() => fetch(`${base}/v1/context`))
    const { code, type } = (yield* Effect.promise(() => refused.json())) as { code: string; type: string }
    assert.deepStrictEqual(
      [refused.status, refused.headers.get("x-service-error"), refused.headers.get("retry-after"), code, type],
      [
        503,
        "SERVICE_UNAVAILABLE",
        "1",
        "SERVICE_UNAVAILABLE",
        "https://turnpike.example/docs/errors#SERVICE_UNAVAILABLE"
      ]
    )
    const probe = yield* Effect.promise(() => fetch(`${base}/health/live`))
    assert.deepStrictEqual([probe.status, probe.headers.get("x-service-error")], [200, null])
  })
)
