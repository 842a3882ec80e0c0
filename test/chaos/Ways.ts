import { assert } from "vitest"
import { type Desk, hear, once, told } from "./Desk.ts"
import { api } from "./Paying.ts"

const anyOf = <A>(all: ReadonlyArray<A>): A => {
  const one = all[Math.floor(Math.random() * all.length)]
  if (one === undefined) throw new Error("There is none")
  return one
}

const twoOf = <A>(all: ReadonlyArray<A>): readonly [A, A] => {
  const first = anyOf(all)
  return [first, anyOf(all.filter((other) => other !== first))]
}

const decimal = (micros: number): string => {
  const digits = String(micros).padStart(7, "0")
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
const upTo = (most: number) => decimal(1 + Math.floor(Math.random() * most))
/** Up to 0.30, to the last micro-unit; one in eight is more than anybody has. */
const someAmount = (): string => (Math.random() < 0.125 ? "9999.00" : upTo(300_000))

const order = ({ dollars }: Desk) => {
  const [from_wallet_id, to_wallet_id] = twoOf(dollars)
  return { from_wallet_id, to_wallet_id, amount: someAmount(), currency: "USDC" }
}

const transfer = async (desk: Desk) => {
  const made = await once(desk, "/v1/transfers", order(desk))
  assert.strictEqual(made.failure_reason, made.status === "completed" ? null : "insufficient_funds")
  hear(desk, made)
  return made
}

const batch = async (desk: Desk) => {
  const [from_wallet_id, ...others] = [...desk.dollars].sort(() => Math.random() - 0.5)
  const transfers = others.flatMap((to_wallet_id, index) => [
    { to_wallet_id, amount: someAmount(), currency: "USDC", memo: `item ${index}` },
    { to_wallet_id, amount: someAmount(), currency: "USDC", idempotency_key: crypto.randomUUID() }
  ])
  const made = await once(desk, "/v1/transfers/batch", { from_wallet_id, transfers })
  assert.strictEqual(made.total, transfers.length)
  for (const [index, { id, status }] of made.transfers.entries()) {
    hear(desk, { id, status, amount: transfers[index]?.amount ?? "" })
  }
  // An item's own key stands for its transfer, also in a batch of its own.
  const again = await once(desk, "/v1/transfers/batch", { from_wallet_id, transfers: [transfers[1]] })
  assert.deepInclude(again.transfers[0], { id: made.transfers[1].id, status: made.transfers[1].status })
}

/** What the sandbox's rail does with a transfer. */
const memos = [null, null, null, "simulate:compliance_block", "simulate:unknown"]

const crossBorder = async (desk: Desk) => {
  const asked = {
    from_currency: "USDC",
    to_currency: "EURC",
    amount: decimal(1_000 * (10 + Math.floor(Math.random() * 290)))
  }
  const { body: quote } = await told(api(desk.client, "POST", "/v1/quotes", asked), 201)
  const made = await once(
    desk,
    "/v1/transfers",
    {
      type: "cross_border",
      from_wallet_id: anyOf(desk.dollars),
      to_wallet_id: anyOf(desk.euros),
      quote_id: quote.id,
      memo: anyOf(memos)
    },
    // Whoever finds no server for half a minute has to ask for a new quote.
    422
  )
  if (made === undefined) return
  hear(desk, made)
  desk.told.pending.add(made.id)
  if (Math.random() < 0.3) await told(api(desk.client, "POST", `/v1/transfers/${made.id}/cancel`), 200, 409)
}

const refund = async (desk: Desk) => {
  const paid = await transfer(desk)
  if (paid.status !== "completed") return
  const whole = { transfer_id: paid.id, reason: "customer_request" }
  // The second is for more than the first may leave.
  for (const amount of [upTo(150_000), undefined]) {
    const made = await once(desk, "/v1/refunds", amount === undefined ? whole : { ...whole, amount }, 409, 422)
    if (made !== undefined) hear(desk, { id: made.refund_transfer_id, status: "completed", amount: made.amount })
  }
}

const dispute = async (desk: Desk) => {
  const paid = await transfer(desk)
  if (paid.status !== "completed") return
  const opened = await once(desk, "/v1/disputes", {
    transfer_id: paid.id,
    reason: "service_not_received",
    description: "Nothing came"
  })
  const path = `/v1/disputes/${opened.id}`
  if (Math.random() < 0.5) await told(api(desk.client, "POST", `${path}/respond`, { response: "It did" }), 200, 409)
  const resolution = anyOf(["full_refund", "no_refund"])
  // The receiver may have spent it by now.
  await told(api(desk.client, "POST", `${path}/resolve`, { resolution }, crypto.randomUUID()), 200, 201, 409, 422)
  const { body: ended } = await told(api(desk.client, "GET", path), 200)
  if (ended.refund_id === null) return
  assert.strictEqual(ended.resolution, "full_refund")
  const { body: made } = await told(api(desk.client, "GET", `/v1/refunds/${ended.refund_id}`), 200)
  assert.strictEqual(made.amount, paid.amount)
  hear(desk, { id: made.refund_transfer_id, status: "completed", amount: made.amount })
}

const schedule = async (desk: Desk) => {
  const scheduled_at = new Date(Date.now() + 1_500 + Math.random() * 2_000).toISOString()
  // Whoever finds no server for so long is too late.
  const made = await once(desk, "/v1/scheduled-transfers", { ...order(desk), scheduled_at }, 422)
  if (made !== undefined) desk.told.schedules.add(made.id)
}

/** A stream that is topped up, withdrawn from and cancelled; its transfers are found by what it says of itself at its end. */
const stream = async (desk: Desk) => {
  const [from_wallet_id, to_wallet_id] = twoOf(desk.dollars)
  const begun = await once(
    desk,
    "/v1/streams",
    { from_wallet_id, to_wallet_id, flow_rate: "0.0123456789", initial_deposit: upTo(200_000), currency: "USDC" },
    422
  )
  if (begun === undefined) return
  const path = `/v1/streams/${begun.id}`
  await once(desk, `${path}/top-up`, { amount: upTo(100_000) }, 422)
  await once(desk, `${path}/withdraw`, {}, 422)
  const ended = await once(desk, `${path}/cancel`, {})
  assert.strictEqual(ended.status, "cancelled")
  desk.told.streams.set(ended.id, ended)
}

/** Everything somebody does with money, in turn. */
export const ways: ReadonlyArray<(desk: Desk) => Promise<unknown>> = [
  transfer,
  crossBorder,
  schedule,
  batch,
  stream,
  transfer,
  refund,
  crossBorder,
  dispute,
  schedule
]
