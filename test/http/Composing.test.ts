import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { createServer } from "node:http"
// By the names under which others import it.
import { payingFetch, turnpike } from "turnpike/client"
import * as Http from "turnpike/http/Http.ts"
import * as BusMemory from "turnpike/layers/BusMemory.ts"
import * as Node from "turnpike/layers/Node.ts"
import * as Platform from "turnpike/layers/Platform.ts"
import * as Postgres from "turnpike/layers/Postgres.ts"
import { Bootstrap } from "turnpike/services/Bootstrap.ts"
import { Deployment } from "turnpike/services/Deployment.ts"
import { PublicHttpPolicy } from "turnpike/services/PublicHttp/Policy.ts"
import { listening } from "../layers/Listening.ts"

const policy = Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowLoopback: true })
const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0" }))
const server = Http.layer.pipe(
  Layer.provideMerge(Platform.layer),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, policy)),
  Layer.provideMerge(Node.layer.pipe(Layer.provide(settings)))
)

layer(server, { timeout: "60 seconds" })("a whole server in a test of another package", (it) => {
  it.effect("sells the stream of an origin beside it", () =>
    Effect.gen(function* () {
      const origin = createServer((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n")
        setImmediate(() => response.end("data: two\n\n"))
      })
      const originUrl = `http://${yield* listening(origin)}`
      const { publicUrl: baseUrl } = yield* Deployment
      const { issued } = yield* (yield* Bootstrap).ensure
      const apiKey = issued?.api_key ?? ""
      const sold = yield* Effect.promise(async () => {
        const api = turnpike({ baseUrl, apiKey })
        const till = await api.wallets.create({ payload: { name: "Till" } })
        const purse = await api.wallets.create({ payload: { name: "Purse" } })
        await api.wallets.fund({ params: { id: purse.id }, payload: { amount: "1.00", currency: "USDC" } })
        const { gatewayUrl } = await api.endpoints.create({
          payload: { name: "Ticks", path: "/ticks", method: "GET", originUrl, walletId: till.id }
        })
        const answer = await payingFetch({ baseUrl, apiKey, wallet: purse.id })(gatewayUrl)
        const text = await answer.text()
        const { balance_available } = await api.wallets.get({ params: { id: till.id } })
        return { text, balance_available }
      })
      assert.deepStrictEqual(sold, { text: "data: one\n\ndata: two\n\n", balance_available: "0.01" })
    })
  )
})
