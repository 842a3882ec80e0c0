import { assert } from "vitest"
import { api, type Client } from "./Paying.ts"

/** What clients were told of money they moved: the last word about each transfer, by id. */
export interface Trades {
  readonly wallets: Array<string>
  readonly transfers: Map<string, Told>
  /** What is still to be asked about: transfers on the rail and schedules. */
  readonly pending: Set<string>
  readonly schedules: Set<string>
  /** Streams as they ended, by id. */
  readonly streams: Map<string, { readonly deposited: string; readonly withdrawn: string; readonly returned: string }>
}

export interface Told {
  readonly status: string
  /** Micro-units. */
  readonly amount: bigint
}

/** Somebody who moves money between wallets: of dollars, and of euros that only ever receive. */
export interface Desk {
  readonly client: Client
  readonly dollars: ReadonlyArray<string>
  readonly euros: ReadonlyArray<string>
  readonly told: Trades
}

export const micros = (text: string): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  return BigInt(whole + fraction.padEnd(6, "0"))
}

/** What a server said with one of these statuses; any other is not what should be said. */
export const told = async (asking: ReturnType<typeof api>, ...statuses: ReadonlyArray<number>) => {
  const answer = await asking
  assert.include(statuses, answer.status, JSON.stringify(answer.body))
  return answer
}

/**
 * A request under a key: often in three copies at once, and often repeated. What was done is answered to all of them alike; what
 * was refused did nothing, and may be done a moment later.
 */
export const once = async ({ client }: Desk, path: string, body: unknown, ...refusals: ReadonlyArray<number>) => {
  const key = crypto.randomUUID()
  const ask = () => told(api(client, "POST", path, body, key), 201, ...refusals)
  const answers = await Promise.all(Math.random() < 0.3 ? [ask(), ask(), ask()] : [ask()])
  const done = answers.find(({ status }) => status === 201)
  if (done === undefined) return undefined
  if (Math.random() < 0.3) {
    const again = await ask()
    assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [201, "true"])
    answers.push(again)
  }
  for (const { body, status } of answers) if (status === 201) assert.deepStrictEqual(body, done.body)
  return done.body
}

/** Notes what was said of a transfer. */
export const hear = (
  { told }: Desk,
  { amount, id, status }: { readonly id: string; readonly status: string; readonly amount: string }
) => {
  told.transfers.set(id, { status, amount: micros(amount) })
}
