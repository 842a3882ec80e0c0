import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { server } from "../http/GatewayHarness.ts"
import { world } from "../http/World.ts"

/** What Postgres calls the rule that a statement breaks. */
const rules = { check: "23514", unique: "23505" }
const codeOf = Schema.decodeUnknownSync(
  Schema.Struct({ reason: Schema.Struct({ cause: Schema.Struct({ code: Schema.String }) }) })
)

/** A row once more, with these columns changed. */
const again = (table: string, changed: Readonly<Record<string, string>>, which = "true") => {
  const members = Object.entries(changed).flatMap(([column, value]) => [`'${column}'`, value])
  return `INSERT INTO ${table} SELECT r.* FROM ${table} AS one,
    jsonb_populate_record(one, jsonb_build_object(${members.join(", ")})) AS r WHERE ${which} LIMIT 1`
}
const id = "gen_random_uuid()"
const seq = "(SELECT movement_seq + 1 FROM ledger_head)"
const line = (changed: Record<string, string>) =>
  again("movements", { seq, command_id: id, ...changed }, "one.amount > 0")
const settled = `INSERT INTO chain_settlements (id, "authorization", network, asset, payer, nonce, amount, state, transaction,
    give_up_at, created_at, concluded_at)
  SELECT gen_random_uuid(), '{}', 'base-mainnet', 'a', 'p', 'n'`

/** Statements that our code never makes, by what would be wrong with the money. Each is refused, whoever makes it. */
const wrongs: Readonly<Record<string, readonly [rule: keyof typeof rules, statement: string]>> = {
  "a wallet that owes": ["check", "UPDATE ledger_accounts SET posted = held - 1 WHERE purpose = 'wallet'"],
  "a fee account that owes": ["check", "UPDATE ledger_accounts SET posted = held - 1 WHERE purpose = 'fees'"],
  "less than nothing that is held": ["check", "UPDATE ledger_accounts SET held = -1 WHERE purpose = 'issuance'"],
  "money from an account to itself": ["check", line({ credit: "one.debit" })],
  "money that moves backwards": ["check", line({ amount: "-1" })],
  "a transfer of nothing": ["check", line({ amount: "0", kind: "'transfer'" })],
  "a command that moves its money twice": ["unique", again("movements", { seq }, "one.amount > 0")],
  "more captured than was held": ["check", "UPDATE holds SET state = 'captured', captured = amount + 1"],
  "a hold that is open and captured": ["check", "UPDATE holds SET state = 'open', captured = 1"],
  "a payment of more than was agreed": ["check", "UPDATE payments SET state = 'captured', charged = amount + 1"],
  "a payment that was taken, nobody knows how much": [
    "check",
    "UPDATE payments SET state = 'captured', charged = NULL"
  ],
  "more refunded than was paid": ["check", "UPDATE transfers SET refunded_amount = amount + 1"],
  "a transfer that completed at no time": ["check", "UPDATE transfers SET status = 'completed', completed_at = NULL"],
  "a transfer that failed for no reason": [
    "check",
    "UPDATE transfers SET status = 'failed', failure_reason = NULL, completed_at = NULL"
  ],
  "a refund of nothing": ["check", "UPDATE refunds SET amount = 0"],
  "a refund without its transfer": ["check", "UPDATE refunds SET refund_transfer_id = NULL WHERE status = 'completed'"],
  "a dispute that was won without a refund": [
    "check",
    "UPDATE disputes SET resolution = 'full_refund' WHERE status = 'resolved'"
  ],
  "two disputes about one transfer": ["unique", again("disputes", { id }, "one.status <> 'resolved'")],
  "a fee of all that is sent": ["check", "UPDATE quotes SET fee = send_amount"],
  "a stream that accrues more than was deposited": [
    "check",
    "UPDATE streams SET accrued = (deposited - buffer) * 1000000000000000::numeric + 1"
  ],
  "a stream that pays more than accrued": [
    "check",
    "UPDATE streams SET withdrawn = trunc(accrued / 1000000000000000::numeric) + 1 WHERE status <> 'cancelled'"
  ],
  "a stream that ends with money in it": [
    "check",
    `UPDATE streams SET status = 'cancelled', pause_reason = NULL, cancelled_at = now(), returned = deposited - withdrawn - 1
      WHERE status <> 'cancelled'`
  ],
  "a stream that gives back while it lives": ["check", "UPDATE streams SET returned = 1 WHERE status <> 'cancelled'"],
  "more credits returned than were charged": [
    "check",
    "UPDATE credit_charges SET state = 'returned', reason = 'a', returned = credits + 1, due_at = NULL, ended_at = now()"
  ],
  "two wallets at one address": ["unique", "UPDATE wallets SET address = 'a', network = 'n', currency = 'c'"],
  "two keys that prove one agent": [
    "unique",
    again("agent_auth_keys", { id, public_key: "'\\x' || repeat('07', 32)" }, "one.status = 'active'")
  ],
  "signed money that is taken twice": [
    "unique",
    `${settled}, 1, 'confirmed', '0x1', now(), now(), now() FROM generate_series(1, 2)`
  ],
  "signed money that was taken by no transaction": ["check", `${settled}, 1, 'confirmed', NULL, now(), now(), now()`]
}

/** Rows of everything. */
const Test = Layer.effectDiscard(Effect.flatMap(world, ({ told }) => told)).pipe(Layer.provideMerge(server))

layer(Test, { timeout: "60 seconds", excludeTestServices: true })("the database itself refuses", (it) => {
  for (const [wrong, [rule, statement]] of Object.entries(wrongs)) {
    it.effect(wrong, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const refused = yield* Effect.flip(sql.unsafe(statement))
        assert.strictEqual(codeOf(refused).reason.cause.code, rules[rule])
      })
    )
  }
})
