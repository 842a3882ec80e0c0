import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentChannel } from "#services/AgentChannel.ts"
import { type Client, connect, resident, Test, unanswered } from "./AgentChannelHarness.ts"

layer(Test, { timeout: "60 seconds" })(
  "a connection whose peer does not read, though the system takes all for it",
  (it) => {
    it.effect(
      "is cut after three heartbeats, and so is one that takes too little of very much, not one that moves on a bad line",
      () =>
        Effect.gen(function* () {
          const channel = yield* AgentChannel
          const clients: Array<Client> = []
          for (let place = 0; place < 5; place++) {
            const { client } = yield* connect(channel, yield* resident)
            client.peer = `192.0.2.${place}:1`
            clients.push(client)
          }
          const [full, trickling, sluggish, catching, lossy] = clients
          const much = 1_000_000
          if (full === undefined || trickling === undefined || sluggish === undefined) return
          if (catching === undefined || lossy === undefined) return
          const never = full.taken
          const states = () => clients.map(({ state }) => state)
          // What the system keeps is what it took and the peer did not: a second, and another amount is read by each.
          const step = Effect.gen(function* () {
            unanswered.set("192.0.2.0:1", { bytes: full.taken - never, isVain: false })
            unanswered.set("192.0.2.1:1", { bytes: 1000, isVain: false })
            unanswered.set("192.0.2.2:1", { bytes: much, isVain: false })
            unanswered.set("192.0.2.3:1", { bytes: much, isVain: false })
            // What gets lost on the way is on its way again whenever somebody looks.
            unanswered.set("192.0.2.4:1", { bytes: much, isVain: true })
            trickling.taken += 1
            sluggish.taken += 1000
            catching.taken += 4000
            lossy.taken += 4000
            yield* TestClock.adjust("1 second")
          })
          for (let second = 0; second < 85; second++) yield* step
          assert.deepStrictEqual(states(), ["open", "open", "open", "open", "open"])
          for (let second = 85; second < 140; second++) yield* step
          unanswered.clear()
          assert.deepStrictEqual(states(), ["destroyed", "open", "destroyed", "open", "open"])
        })
    )

    it.effect("is given its time from when much waits for it, although it was slow once before", () =>
      Effect.gen(function* () {
        const { client } = yield* connect(yield* AgentChannel, yield* resident)
        client.peer = "192.0.2.9:1"
        unanswered.set(client.peer, { bytes: 1000, isVain: true })
        yield* TestClock.adjust("20 seconds")
        unanswered.clear()
        yield* TestClock.adjust("2 minutes")
        client.taken += 300_000
        unanswered.set(client.peer, { bytes: 300_000, isVain: false })
        yield* TestClock.adjust("20 seconds")
        unanswered.clear()
        assert.strictEqual(client.state, "open")
      })
    )
  }
)
