import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { EventLog } from "#services/EventLog.ts"
import { send, server, tenant } from "./GatewayHarness.ts"

layer(server, { timeout: "60 seconds", excludeTestServices: true })(
  "where a list of deliveries and a replay begin and end",
  (it) => {
    it.effect("is not cut at the millisecond: what lies in it is before the digits behind that", () =>
      Effect.gen(function* () {
        const { key, principal } = yield* tenant
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
        const post = (path: string, body: object) =>
          send(`/v1/webhooks${path}`, { method: "POST", headers, body: JSON.stringify(body) })
        const { id } = (yield* post("", { url: "https://example.com/hooks", events: ["transfer.*"] })).json
        yield* post(`/${id}/test`, {})
        const list = (query: string) => send(`/v1/webhooks/${id}/deliveries?${query}`, { headers })
        const [{ created_at }] = (yield* list("")).json.data
        const behind = created_at.replace("Z", "001Z")
        const bounds = [`since=${created_at}`, `since=${behind}`, `until=${created_at}`, `until=${behind}`]
        const counts = (yield* Effect.forEach(bounds, list)).map(({ json }) => json.data.length)
        assert.deepStrictEqual(counts, [1, 0, 0, 1])

        const { after, append } = yield* EventLog
        yield* append([{ tenant_id: principal.tenant_id, type: "transfer.created", data: {} }])
        const since = (yield* after(0n, 100_000)).at(-1)?.created_at.toISOString() ?? ""
        const moments = [since, since.replace("Z", "001Z")]
        const replayed = yield* Effect.forEach(moments, (since) => post(`/${id}/replay`, { since }))
        assert.deepStrictEqual(
          Array.from(replayed, ({ json }) => json.queued),
          [1, 0]
        )
      })
    )
  }
)
