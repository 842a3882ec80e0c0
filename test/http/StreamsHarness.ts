import { Effect, Schedule } from "effect"
import { newcomer } from "./WalletsServer.ts"

/** A caller with a wallet of 100.00 and an empty one. */
export const streaming = Effect.gen(function* () {
  const { call, tenant } = yield* newcomer
  const wallet = Effect.map(call("POST", "/v1/wallets", {}), ({ body }): string => body.id)
  const [payer, payee] = [yield* wallet, yield* wallet]
  yield* call("POST", `/v1/wallets/${payer}/fund`, { amount: "100", currency: "USDC" })
  const wanted = { from_wallet_id: payer, to_wallet_id: payee, flow_rate: "0.000001", initial_deposit: "10" }
  const open = (changed: object = {}, headers?: Record<string, string>) =>
    call("POST", "/v1/streams", { ...wanted, ...changed }, headers)
  const balance = (id: string) =>
    Effect.map(call("GET", `/v1/wallets/${id}`), ({ body }): string => body.balance_available)
  return { call, tenant, payer, payee, wanted, open, balance }
})

/** One that pays all its 10.00 within a microsecond, and has. */
export const spent = Effect.gen(function* () {
  const world = yield* streaming
  const { body } = yield* world.open({ flow_rate: "9999999999999" })
  const path = `/v1/streams/${body.id}`
  const dry = yield* Effect.repeat(world.call("GET", path), {
    until: (answer) => answer.body.status === "paused",
    schedule: Schedule.spaced("2 millis")
  })
  return { ...world, path, dry: dry.body }
})
