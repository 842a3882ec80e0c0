import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { agentChannel, type AgentChannel, TurnpikeError } from "#client/client.ts"
import { toTypeId } from "#domain/Ids.ts"
import { Agents } from "#services/Agents.ts"
import { Credentials } from "#services/Credentials.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { entrance, layer as server } from "../http/PlatformHarness.ts"
import { agent, tenant } from "../services/AgentsHarness.ts"

/** An agent that listens, and money for it. */
const scene = Effect.gen(function* () {
  const { base } = yield* entrance
  const caller = yield* tenant
  const one = yield* agent(caller)
  const wallets = yield* Wallets
  const { id: till } = yield* wallets.create(caller, {})
  yield* wallets.fund(caller, till, { amount: 9_000_000n, currency: "USDC" })
  const transfers = yield* Transfers
  const pay = Effect.fnUntraced(function* () {
    const between = { from_wallet_id: till, to_wallet_id: one.data.wallet_id }
    const order = { ...between, type: "internal", amount: 1_000_000n, currency: "USDC" } as const
    return toTypeId("tx", (yield* transfers.create(caller, order)).transfer.id)
  })
  const isOpen = Promise.withResolvers<void>()
  const listen = Effect.fnUntraced(function* (lastEventId?: string) {
    const channel = agentChannel({
      baseUrl: base,
      agentId: toTypeId("agt", one.id),
      privateKey: one.seed,
      lastEventId,
      maxRetryDelayMs: 20,
      onConnect: isOpen.resolve
    })
    yield* Effect.addFinalizer(() => Effect.promise(() => channel.return()))
    return channel
  })
  /** What the channel says first, once it listens. */
  const first = Effect.fnUntraced(function* (channel: AgentChannel) {
    const said = channel.next().then(
      ({ value }) => value,
      (error: unknown) => error
    )
    yield* Effect.promise(() => isOpen.promise)
    return Effect.promise(() => said)
  })
  return { first, caller, listen, one, pay }
})

const transferOf = (event: unknown) => Object(event).data?.transfer_id

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the channel of a real server", (it) => {
  it.effect("tells of money that came, and goes on in the next run after what was handled", () =>
    Effect.gen(function* () {
      const { first, listen, pay } = yield* scene
      const channel = yield* listen()
      const said = yield* first(channel)
      const paid = [yield* pay(), yield* pay(), yield* pay()]
      const event = Object(yield* said)
      assert.deepInclude(event.data, { transfer_id: paid[0], amount: "1.00", direction: "inbound" })
      yield* Effect.promise(() => channel.return())
      const later = yield* listen(event.id)
      const told = [yield* Effect.promise(() => later.next()), yield* Effect.promise(() => later.next())]
      assert.deepStrictEqual(
        told.map(({ value }) => transferOf(value)),
        paid.slice(1)
      )
    })
  )

  it.effect("outlives its session: it logs in again and misses nothing", () =>
    Effect.gen(function* () {
      const { caller, first, listen, one, pay } = yield* scene
      const channel = yield* listen()
      const said = yield* first(channel)
      const paid = [yield* pay()]
      assert.strictEqual(transferOf(yield* said), paid[0])
      yield* (yield* Credentials).revokeAll({ tenant_id: caller.tenant_id, agent_id: one.id, kind: "session_token" })
      for (const _ of [1, 2]) {
        paid.push(yield* pay())
        assert.strictEqual(transferOf((yield* Effect.promise(() => channel.next())).value), paid.at(-1))
      }
    })
  )

  it.effect("ends with its agent", () =>
    Effect.gen(function* () {
      for (const [end, code] of [
        ["suspend", "AGENT_SUSPENDED"],
        ["revokeKey", "INVALID_SIGNATURE"]
      ] as const) {
        const { caller, first, listen, one } = yield* scene
        const waiting = yield* first(yield* listen())
        const agents = yield* Agents
        yield* end === "suspend" ? agents.suspend(caller, one.id, "lost") : agents.revokeKey(caller, one.id)
        const error = yield* waiting
        assert.instanceOf(error, TurnpikeError)
        assert.strictEqual(error.code, code)
      }
    })
  )
})
