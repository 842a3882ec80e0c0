import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, References } from "effect"
import { whileLocked } from "../services/CredentialsHarness.ts"
import { options, serverOf, withWallet } from "./WalletsServer.ts"

interface Line {
  readonly level: string
  readonly message: string
  readonly annotations: { readonly [name: string]: unknown }
}
const written: Array<Line> = []
const keep = Logger.map(Logger.formatStructured, ({ annotations, level, message }) => {
  written.push({ annotations, level, message: String(message) })
})
const server = serverOf("sandbox").pipe(
  Layer.provide(Logger.layer([keep])),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "Debug"))
)

/** What was written about a request, without what is of this one alone. */
const linesOf = (id: string) =>
  written
    .filter(({ annotations }) => annotations["request_id"] === id)
    .map(({ annotations: { route, status }, level, message }) => ({ level, message, route, status }))

layer(server, options)("a plain request", (it) => {
  it.effect("has the same lines in the log as one that takes the way of all others", () =>
    Effect.gen(function* () {
      const { call } = yield* withWallet
      const ask = (headers: Record<string, string>, token: string) =>
        call("POST", "/v1/transfers", {}, { authorization: `Bearer pk_test_${token.repeat(32)}`, ...headers })
      const direct = (id: string) => ({ "x-request-id": id })
      const usual = (id: string) => ({ "x-request-id": id, origin: "https://a.test" })
      assert.strictEqual((yield* ask(direct("direct-refused"), "a")).status, 401)
      assert.strictEqual((yield* ask(usual("usual-refused"), "a")).status, 401)
      const [one, two] = yield* whileLocked(
        Effect.all([ask(direct("direct-late"), "b"), ask(usual("usual-late"), "c")], { concurrency: 2 })
      )
      assert.deepStrictEqual([one?.status, two?.status], [503, 503])
      assert.deepStrictEqual(
        linesOf("usual-late").map(({ level }) => level),
        ["WARN", "DEBUG"]
      )
      assert.strictEqual(
        linesOf("usual-late")[0]?.message,
        "POST /v1/transfers is unavailable: canceling statement due to statement timeout"
      )
      assert.deepStrictEqual(linesOf("direct-late"), linesOf("usual-late"))
      assert.strictEqual(linesOf("usual-refused").length, 1)
      assert.deepStrictEqual(linesOf("direct-refused"), linesOf("usual-refused"))
    })
  )
})
