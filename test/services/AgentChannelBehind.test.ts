import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { AgentChannel } from "#services/AgentChannel.ts"
import { connect, payloads, resident, session, tell, Test, told, until } from "./AgentChannelHarness.ts"

/** A reader that stopped before these many events, and one of the same agent that had them all. */
const outrun = Effect.fnUntraced(function* (events: number) {
  const channel = yield* AgentChannel
  const one = yield* resident
  const { client: slow } = yield* connect(channel, one)
  const { client: quick } = yield* connect(channel, { ...one, session: yield* session(one) })
  slow.isReading = false
  for (let turn = 0; turn < 6; turn++) yield* tell(one, "x".repeat(50_000))
  yield* until(
    "it waits",
    Effect.sync(() => slow.pending > 200_000)
  )
  yield* tell(one, ...Array.from({ length: events }, (_, place) => place))
  yield* told(quick, 6 + events)
  return { slow, quick }
})

layer(Test, { timeout: "60 seconds" })("a connection that a burst leaves behind", (it) => {
  it.effect("goes on with everything, in order, although more than a hundred events wait for it", () =>
    Effect.gen(function* () {
      const { quick, slow } = yield* outrun(300)
      yield* (yield* AgentChannel).prune
      slow.read()
      yield* told(slow, 306)
      assert.deepStrictEqual(payloads(slow), payloads(quick))
      assert.strictEqual(slow.state, "open")
    })
  )

  it.effect(
    "is cut when it takes a little all the time and is five minutes behind: what it missed may be forgotten",
    () =>
      Effect.gen(function* () {
        const { slow } = yield* outrun(20)
        for (let turn = 0; turn < 18; turn++) {
          slow.taken += 1
          yield* TestClock.adjust("20 seconds")
        }
        assert.strictEqual(slow.state, "open")
        yield* (yield* AgentChannel).prune
        slow.read()
        yield* until(
          "it is cut",
          Effect.sync(() => slow.state === "destroyed")
        )
      })
  )

  it.effect("is cut when it is more than a hundred events and a minute behind", () =>
    Effect.gen(function* () {
      const { slow } = yield* outrun(101)
      yield* TestClock.adjust("61 seconds")
      yield* (yield* AgentChannel).prune
      slow.read()
      yield* until(
        "it is cut",
        Effect.sync(() => slow.state === "destroyed")
      )
    })
  )
})
