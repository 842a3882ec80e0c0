import { type Damage, sees } from "./DoctorHarness.ts"

/** Whom money comes from, whom it goes to, and what was promised of it: each as it may be found after a restoration that went wrong. */
const parties = "whoever a transfer names has that wallet, and the account that it names is the wallet's"
const owned =
  "a wallet is an account of the books in its currency, frozen when it says so, of an owner within its tenant"
const earning =
  "a priced endpoint earns for a wallet of its own tenant, currency and network, and belongs to an account of it"
const charged = "a captured payment took exactly what its hold gave, from its payer to its payee"
const reversed =
  "a refund, and a dispute, is about a transfer of its tenant, in its currency, between its payer and its payee"
const told = "refunds and disputes have as many events as they had changes, told to their tenant"
const fenced = "a dispute, and the refunds of a transfer, stand at the versions that their fences count"
const paid = "every captured payment has its event, once, and the events say what was charged"
const streams = "a stream flows between two wallets of its currency, and its transfers are between them"
const schedules = "a schedule moves money of its tenant between two wallets of its currency, and so did its transfers"
const across = "a completed cross_border transfer has its movements, and one that did not complete moved nothing"
const underWay =
  "a cross_border transfer that is under way has its open hold, and no other open hold is for foreign exchange"
const said = "every transfer has the event of its creation and that of its end, once, and they say its amount"
const holds = "a hold begins once and ends at most once, in the way its state says, always between the same two"
const held = "every line of the log carries what its debited account had promised at its time"
const lines = "a balance is the sum of its entries, and every line of the log carries the balance at its time"
const own = "the platform has its own accounts, once in each currency, and may overdraw issuance alone"
const places = "whoever goes along the event log has a place in it"
const quoted = "a quote promises what its rate makes of what is sent, less the fee, rounded down"
const usable = "money that is held for a call belongs to a payment that may still be used"
const steps = "the lines of a command stand together, and its steps are numbered without gaps"
const named = "a refusal in the log moved nothing, and a line names a hold when it is about one"
const log = "the log is gapless and ends at its head"
const appended = "the logs of movements and of events refuse every change but a new line"
const once = "the indexes that let nothing be there twice are in place"
const found = "the indexes by which rows are found are in place"
const ruled = "what a row may not be (CHECK), or refer to in vain (FOREIGN KEY), is refused"
const awake = "no trigger of a table is switched off"
const batched = "a batch's totals are those of its items, each of which has its own place"
const comes = "every time is one that comes: what is due at the end of all times is never done"

const damages: ReadonlyArray<Damage> = [
  [
    parties,
    "DELETE FROM wallets WHERE id = (SELECT to_wallet_id FROM refunds r JOIN transfers t ON t.id = r.transfer_id)"
  ],
  [parties, "UPDATE transfers SET from_account_id = gen_random_uuid()"],
  [parties, "UPDATE transfers SET to_account_id = NULL"],
  [owned, "UPDATE wallets SET tenant_id = gen_random_uuid()"],
  [owned, "UPDATE wallets SET owner_id = gen_random_uuid()"],
  [owned, "UPDATE wallets SET currency = 'EURC' WHERE currency = 'USDC'"],
  [owned, "UPDATE ledger_accounts SET frozen = true WHERE purpose = 'wallet'"],
  [
    "what the books keep for a wallet is that wallet's",
    "DELETE FROM wallets WHERE id = (SELECT id FROM ledger_accounts WHERE purpose = 'wallet' AND posted > 0 LIMIT 1)"
  ],
  ["what somebody has belongs to a tenant that is there", "DELETE FROM tenants"],
  [earning, "UPDATE endpoints e SET wallet_id = w.id FROM wallets w WHERE w.tenant_id <> e.tenant_id"],
  [earning, "UPDATE endpoints SET account_id = gen_random_uuid()"],
  ["a payment belongs to the tenant of its endpoint", "UPDATE payments SET tenant_id = gen_random_uuid()"],
  [charged, "UPDATE payments SET hold_id = NULL WHERE state = 'captured'"],
  [charged, "UPDATE payments SET payee_wallet_id = payer_id"],
  [charged, "UPDATE payments SET payer_id = payee_wallet_id"],
  [charged, "UPDATE payments SET currency = 'EURC'"],
  [usable, "DELETE FROM payments WHERE state = 'authorized'"],
  [paid, "UPDATE events SET tenant_id = gen_random_uuid() WHERE type = 'x402.payment.completed'"],
  [paid, `UPDATE events SET data = replace(data::text, '"charged":"0.01"', '"charged":"0.02"')::json`],
  [reversed, "UPDATE refunds SET currency = 'EURC'"],
  [reversed, "UPDATE refunds SET payer_account_id = gen_random_uuid()"],
  [reversed, "UPDATE disputes SET transfer_id = gen_random_uuid()"],
  [reversed, "UPDATE disputes SET amount_disputed = amount_disputed * 1000"],
  [told, "UPDATE events SET tenant_id = gen_random_uuid() WHERE type = 'refund.completed'"],
  [told, "UPDATE events SET data = '{}' WHERE type LIKE 'dispute.%'"],
  [fenced, "UPDATE transfers SET refunds_version = 0 WHERE refunds_version > 0"],
  [fenced, "UPDATE disputes SET version = 0"],
  [fenced, "DELETE FROM tallies"],
  [streams, "UPDATE streams SET from_wallet_id = gen_random_uuid()"],
  [streams, "UPDATE streams SET to_wallet_id = (SELECT id FROM wallets w WHERE w.id <> to_wallet_id LIMIT 1)"],
  [schedules, "UPDATE scheduled_transfers SET to_wallet_id = gen_random_uuid()"],
  [schedules, "UPDATE scheduled_transfers SET currency = 'EURC'"],
  [across, "UPDATE transfers SET to_wallet_id = from_wallet_id WHERE type = 'cross_border' AND status = 'completed'"],
  [underWay, "UPDATE transfers SET from_wallet_id = to_wallet_id WHERE type = 'cross_border' AND status = 'pending'"],
  [said, `UPDATE events SET data = replace(data::text, '"amount":"20.00"', '"amount":"21.00"')::json`],
  [said, "UPDATE transfers SET amount = amount + 1 WHERE status = 'failed'"],
  [said, `UPDATE events SET data = '{"transfer":1}' WHERE type = 'transfer.completed'`],
  [quoted, "UPDATE quotes SET receive_amount = receive_amount + 1"],
  [quoted, "UPDATE quotes SET rate = 'none'"],
  [holds, "DELETE FROM holds WHERE state = 'captured'"],
  [holds, "UPDATE holds SET amount = amount + 1 WHERE state = 'captured'"],
  [holds, "UPDATE movements SET credit = credit + 1000 WHERE kind = 'hold'"],
  [held, "UPDATE movements SET debit_held = debit_held + 1 WHERE kind = 'transfer'"],
  [held, "UPDATE movements SET debit_held = debit_held - 1 WHERE kind = 'capture'"],
  // Its account never promised anything.
  [held, "UPDATE movements SET debit_held = 1 WHERE code = 'faucet'"],
  [lines, "UPDATE movements SET debit_posted = debit_posted + 1 WHERE kind = 'hold'"],
  [named, "UPDATE movements SET hold_id = gen_random_uuid() WHERE kind = 'transfer'"],
  [steps, "UPDATE movements SET step = step + 100 WHERE kind = 'capture'"],
  [steps, "UPDATE movements SET step = step + 100 WHERE step > 0"],
  [steps, "UPDATE movements SET command_id = gen_random_uuid() WHERE step = 0"],
  [log, "DELETE FROM ledger_head"],
  ["the event log is gapless and ends at its head", "DELETE FROM ledger_head"],
  [own, "UPDATE ledger_accounts SET may_overdraw = true WHERE purpose = 'wallet'"],
  [own, "DELETE FROM ledger_accounts WHERE purpose = 'fx' AND currency = 'EURC'"],
  [own, "UPDATE ledger_accounts SET purpose = 'issuance' WHERE purpose = 'fees'"],
  [places, "DELETE FROM statistics_cursor"],
  [places, "DELETE FROM merchant_scan_head"],
  [appended, "ALTER TABLE movements DISABLE TRIGGER append_only"],
  [appended, "DROP TRIGGER append_only ON events"],
  [once, "DROP INDEX movements_command"],
  [once, "ALTER TABLE quotes DROP CONSTRAINT quotes_pkey"],
  [once, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'payments_reservation'::regclass"],
  [found, "DROP INDEX holds_open"],
  [found, "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'events_tenant'::regclass"],
  [ruled, "ALTER TABLE holds DROP CONSTRAINT holds_check"],
  [ruled, "ALTER DOMAIN micros DROP CONSTRAINT micros_check"],
  [ruled, "ALTER TABLE wallets DROP CONSTRAINT wallets_tenant_id_fkey"],
  [awake, "ALTER TABLE wallets DISABLE TRIGGER ALL"],
  [awake, "ALTER TABLE events DISABLE TRIGGER append_only"],
  [comes, "UPDATE holds SET expires_at = 'infinity'"],
  [comes, "UPDATE scheduled_transfers SET due_at = 'infinity'"],
  [comes, "DROP TABLE agent_challenges"],
  [batched, "UPDATE pg_class SET relfilenode = 1 WHERE oid = 'batches'::regclass"]
]

sees(damages)
