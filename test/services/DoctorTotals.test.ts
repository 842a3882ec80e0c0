import { Effect } from "effect"
import { Batches } from "#services/Batches.ts"
import { Disputes } from "#services/Disputes.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { claims, item, paying } from "./BatchesHarness.ts"
import { verdict } from "./DisputesHarness.ts"
import { type Damage, sees } from "./DoctorHarness.ts"
import { open, parties } from "./MoneyStreamsHarness.ts"
import { dispute, paid } from "./RefundsHarness.ts"

/** What adds up, stands beside what it came from, or was told: each as it may be found after a restoration that went wrong. */
const streamOwns =
  "a stream owns what was deposited less what was withdrawn and returned, and nothing once it is cancelled"
const streamSums = "what was deposited, withdrawn and returned of a stream is the sum of its transfers"
const streamTold = "every stream has the event of its start, and that of its end when it is cancelled, once"
const refunded =
  "what was refunded of a transfer is the sum of its refunds, and with what is promised never more than the transfer"
const awarded = "a dispute that ended with a refund has it, and no other dispute has one"
const settled = "a settlement and its transfer say the same"
const foreign = "the books of foreign exchange are empty"
const onChain = "what was charged on a chain is what was settled there, once"
const items = "a batch's totals are those of its items, each of which has its own place"
const batchTold = "every batch has its event, once"
const places = "scans have places without gaps, in the order of time, and the head knows the last"
const blocks = "blocks follow each other without gaps and count what their scans say"
const merchants = "every merchant was scanned, and the counts of merchants and of their protocols are theirs"
const scanTold = "whoever asked for a scan or a test was told of its end, once"
const toldOwn = "an agent is told facts of its own tenant only, and of no wallet but its own"
const toldAhead = "an agent is told nothing of what is not passed yet"
const present = "an agent is present while it has a connection, and not otherwise"
const goings = "what the log says of an agent's coming and going ends with how it is"
const chains = "no chain of deliveries has two attempts that are still to end, and the last of one that goes on is such"
const attempts =
  "the attempts of a chain are numbered without gaps, but for those that were forgotten, and carry one event"
const flights = "no subscription has more calls in flight than it may"

const scanned = (place: string, at = "now()") =>
  `INSERT INTO merchant_scans (place, id, domain, status, readiness_score, scanned_at, created_at, findings)
    SELECT ${place}, gen_random_uuid(), 'a.example', 'completed', 7, ${at}, now(), '{}' FROM generate_series(1, 2) n`
const block = (first: number, last: number, scans: number) =>
  `INSERT INTO merchant_scan_blocks (last, first, merchant_category, region, status, scans, scored, score_sum, upto)
    SELECT ${last}, ${first}, '', '', 'completed', ${scans}, 2, 14, array_fill(2, '{101}')`
const agent = "INSERT INTO agent_presence (agent_id, tenant_id, connected_since, last_seen_at)"
const connection = `INSERT INTO agent_connections (session_id, agent_id, tenant_id, auth_key_id, fence, node, connected_at, last_seen_at, expires_at)
    SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), now(), now(), now()`
const member = (tenant: string) =>
  `INSERT INTO agents (id, tenant_id, account_id, wallet_id, name, skills, status, metadata, created_at, updated_at)
    SELECT id, ${tenant}, gen_random_uuid(), gen_random_uuid(), 'a', '{}', 'active', '{}', now(), now() FROM tenants LIMIT 1`
const heard = (seq: string, wallet = "NULL") =>
  `INSERT INTO agent_events (agent_id, seq, event_id, wallet_id, created_at)
    SELECT a.id, ${seq}, e.id, ${wallet}, now() FROM agents a JOIN events e ON e.tenant_id = a.tenant_id ORDER BY e.seq LIMIT 1`
const sent = (attempt: string, status: string, chain = "'00000000-0000-4000-8000-000000000001'") =>
  `INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_data, event_at, attempt, again,
      due_at, status, lease_until, created_at)
    SELECT '00000000-0000-4000-8000-000000000009', CASE n WHEN 1 THEN ${chain} ELSE gen_random_uuid() END, ${chain},
      gen_random_uuid(), 'test', '00000000-0000-4000-8000-000000000002', 'a.b', '{}', now(), ${attempt}, false, now(), ${status},
      CASE WHEN ${status} = 'sending' THEN now() END, now() FROM generate_series(1, 7) n`

const damages: ReadonlyArray<Damage> = [
  [streamOwns, "UPDATE ledger_accounts SET posted = posted + 1 WHERE purpose = 'stream' AND posted > 0"],
  [streamOwns, "UPDATE ledger_accounts SET posted = 1 WHERE purpose = 'stream' AND posted = 0"],
  [streamOwns, "UPDATE ledger_accounts SET held = 1 WHERE purpose = 'stream' AND posted > 0"],
  [streamOwns, "UPDATE ledger_accounts SET frozen = true WHERE purpose = 'stream'"],
  [streamOwns, "UPDATE ledger_accounts SET currency = 'EURC' WHERE purpose = 'stream'"],
  [streamOwns, "UPDATE streams SET deposited = deposited + 1 WHERE status = 'active'"],
  ["the account of a stream that was never opened is empty", "DELETE FROM streams WHERE status = 'active'"],
  ["a stream is at the version that the ledger counts", "UPDATE streams SET version = version + 1"],
  [streamSums, "UPDATE streams SET deposited = deposited + 1 WHERE status = 'active'"],
  [streamSums, "UPDATE transfers SET amount = amount - 1 WHERE type = 'stream_cancel'"],
  [streamSums, "UPDATE transfers SET stream_id = gen_random_uuid() WHERE type = 'stream_start'"],
  [streamTold, "DELETE FROM events WHERE type = 'stream.started'"],
  [streamTold, "DELETE FROM events WHERE type = 'stream.ended'"],
  [streamTold, "UPDATE events SET data = '{}' WHERE type = 'stream.ended'"],
  [refunded, "UPDATE transfers SET refunded_amount = refunded_amount - 1 WHERE refunded_amount > 0"],
  [refunded, "DELETE FROM refunds"],
  [
    refunded,
    "INSERT INTO refunds SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'status', 'pending', 'amount', 1, 'completed_at', NULL, 'refund_transfer_id', NULL, 'due_at', now()))).* FROM refunds r"
  ],
  [awarded, "UPDATE disputes SET refund_id = gen_random_uuid() WHERE refund_id IS NOT NULL"],
  [awarded, "UPDATE refunds SET dispute_id = NULL WHERE dispute_id IS NOT NULL"],
  [awarded, "UPDATE refunds SET dispute_id = gen_random_uuid() WHERE dispute_id IS NULL"],
  [settled, "UPDATE settlements SET tenant_id = gen_random_uuid()"],
  [settled, "DELETE FROM settlements"],
  [settled, "UPDATE transfers SET status = 'processing' WHERE type = 'cross_border' AND status = 'pending'"],
  [foreign, "UPDATE ledger_accounts SET posted = 1 WHERE purpose = 'fx' AND currency = 'USDC'"],
  [onChain, "UPDATE payments SET rail = 'chain', transaction = '0x1' WHERE state = 'captured'"],
  [
    onChain,
    `INSERT INTO chain_settlements (id, payment_id, "authorization", network, asset, payer, nonce, amount, state, transaction, give_up_at,
      created_at, concluded_at, booked_at)
    SELECT gen_random_uuid(), id, '{}', 'base-mainnet', 'a', 'p', 'n', charged, 'confirmed', '0x1', now(), now(), now(), now()
    FROM payments WHERE state = 'captured'`
  ],
  [items, "UPDATE batches SET completed = completed - 1, failed = failed + 1"],
  [items, "UPDATE batches SET total = total + 1, failed = failed + 1"],
  [items, "UPDATE transfers SET batch_index = 0 WHERE batch_id IS NOT NULL"],
  [items, "UPDATE transfers SET batch_index = batch_index + 1 WHERE batch_id IS NOT NULL"],
  [items, "UPDATE transfers SET batch_id = NULL, batch_index = NULL WHERE batch_index = 1"],
  ["a transfer of a batch belongs to the batch's tenant", "UPDATE batches SET tenant_id = gen_random_uuid()"],
  [batchTold, "DELETE FROM events WHERE type = 'batch.completed'"],
  [batchTold, "DELETE FROM batches"],
  [batchTold, "UPDATE events SET data = '{}' WHERE type = 'batch.completed'"],
  [places, scanned("n")],
  [places, `${scanned("n + 1")}; UPDATE merchant_scan_head SET place = 3`],
  [places, `${scanned("n", "now() - n * interval '1 hour'")}; UPDATE merchant_scan_head SET place = 2`],
  [blocks, `${scanned("n")}; ${block(1, 2, 3)}`],
  [blocks, `${scanned("n + 2")}; ${block(3, 4, 2)}`],
  [blocks, `${scanned("n")}; ${block(1, 2, 2)}; UPDATE merchant_scan_blocks SET score_sum = 15`],
  [blocks, `${scanned("n")}; ${block(1, 2, 2)}; UPDATE merchant_scan_blocks SET upto = array_fill(1, '{101}')`],
  [merchants, "UPDATE merchant_scan_head SET domains = 1"],
  [merchants, `${scanned("n")}; UPDATE merchant_scan_head SET domains = 0`],
  [merchants, "INSERT INTO merchant_protocols (protocol, domains) VALUES ('ucp', 1)"],
  [scanTold, "INSERT INTO scanner_askers (record_id, tenant_id) SELECT gen_random_uuid(), id FROM tenants LIMIT 1"],
  [
    scanTold,
    `UPDATE events SET type = 'scan.completed', data = json_build_object('scan', json_build_object('id', gen_random_uuid()))
    WHERE type = 'dispute.opened'`
  ],
  [toldOwn, `${member("tenants.id")}; ${heard("e.seq")}; UPDATE agents SET tenant_id = gen_random_uuid()`],
  [toldOwn, `${member("tenants.id")}; ${heard("e.seq")}; UPDATE agent_events SET event_id = gen_random_uuid()`],
  [toldOwn, `${member("tenants.id")}; ${heard("e.seq", "(SELECT id FROM wallets LIMIT 1)")}`],
  [
    toldAhead,
    `INSERT INTO followers (name, seq) VALUES ('agent_channel', 0) ON CONFLICT (name) DO UPDATE SET seq = 0;
    ${member("tenants.id")}; ${heard("e.seq")}`
  ],
  [present, `${agent} SELECT gen_random_uuid(), gen_random_uuid(), now(), now()`],
  [present, connection],
  [present, `${connection}; ${agent} SELECT agent_id, tenant_id, NULL, now() FROM agent_connections`],
  [goings, `${agent} SELECT gen_random_uuid(), gen_random_uuid(), now(), now()`],
  [
    goings,
    `${agent} SELECT id, id, NULL, now() FROM tenants LIMIT 1;
    UPDATE events SET type = 'agent.connected', data = json_build_object('agent', json_build_object('id', type_id('agt', p.agent_id)))
    FROM agent_presence p WHERE type = 'dispute.opened'`
  ],
  [chains, sent("1", "'pending'")],
  [attempts, sent("CASE WHEN n > 6 THEN 8 ELSE n END", "'pending'")],
  [attempts, sent("n + 2", "'pending'")],
  [attempts, `${sent("n", "'pending'")}; UPDATE webhook_deliveries SET event_id = gen_random_uuid()`],
  [flights, sent("1", "'sending'")]
]

sees(
  damages,
  Effect.gen(function* () {
    const both = yield* parties(1_000_000_000n)
    const { stream } = yield* open(both, { initial_deposit: 1_000_000n })
    yield* (yield* MoneyStreams).cancel(both.caller, stream.id, {})
    const { caller, id } = yield* paid
    const { id: dp } = yield* dispute(caller, id)
    yield* (yield* Disputes).resolve(caller, dp, verdict("full_refund"))
    const { caller: payer, purse, till } = yield* paying(10n)
    const transfers = [item(till, 1n), item(till, 2n)]
    yield* (yield* Batches).create(payer, { from_wallet_id: purse, transfers }, claims(payer))
  })
)
