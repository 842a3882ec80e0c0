import { toTypeId } from "./Ids.ts"
import { formatDecimal } from "./Money.ts"
import type { Transfer } from "./Transfer.ts"

/** What of a transfer changes as it ends. */
type Outcome = Pick<Transfer, "status" | "failure_reason" | "completed_at">

const begun: Outcome = { status: "pending", failure_reason: null, completed_at: null }

/**
 * The JSON of a transfer as callers see it, which is that of `transferOnWire`. Written out, because one that is made is said three
 * times: to the caller, as it ended, and as it began.
 */
export const transferJson = (
  transfer: Transfer,
  { completed_at, failure_reason, status }: Outcome = transfer
): string => {
  const { after, before, between } = said(transfer)
  return `${before}${status}${between}${quoted(failure_reason)}${after}${instant(completed_at)}}`
}

/** The same of a transfer as it was when it began. */
export const begunJson = (transfer: Transfer): string => transferJson(transfer, begun)

/** What stands around its outcome. */
interface Said {
  readonly before: string
  readonly between: string
  readonly after: string
}

const known = new WeakMap<Transfer, Said>()
const said = (transfer: Transfer): Said => {
  const before = known.get(transfer)
  if (before !== undefined) return before
  const now = say(transfer)
  known.set(transfer, now)
  return now
}

// Only what callers and their programs wrote has letters that JSON escapes.
const say = (transfer: Transfer): Said => {
  const { created_at, updated_at } = transfer
  const created = created_at.toISOString()
  const updated = updated_at === created_at ? created : updated_at.toISOString()
  return {
    before: `{"id":"${toTypeId("tx", transfer.id)}","type":"${transfer.type}","status":"`,
    between:
      `","amount":"${formatDecimal(transfer.amount)}","currency":"${transfer.currency}"` +
      `,"from_wallet_id":${id("wal", transfer.from_wallet_id)},"to_wallet_id":${id("wal", transfer.to_wallet_id)}` +
      `,"from_account_id":${id("acc", transfer.from_account_id)},"to_account_id":${id("acc", transfer.to_account_id)}` +
      `,"memo":${JSON.stringify(transfer.memo)},"quote_id":${id("qt", transfer.quote_id)}` +
      `,"destination_amount":${decimal(transfer.destination_amount)}` +
      `,"destination_currency":${quoted(transfer.destination_currency)},"fee":"${formatDecimal(transfer.fee)}"` +
      `,"batch_id":${id("bat", transfer.batch_id)},"stream_id":${id("str", transfer.stream_id)}` +
      `,"scheduled_at":${instant(transfer.scheduled_at)},"initiated_by":${JSON.stringify(transfer.initiated_by)}` +
      `,"protocol":"${transfer.protocol}","protocol_metadata":${JSON.stringify(transfer.protocol_metadata)}` +
      `,"failure_reason":`,
    after:
      `,"refunded_amount":"${formatDecimal(transfer.refunded_amount)}","created_at":"${created}"` +
      `,"updated_at":"${updated}","completed_at":`
  }
}

const quoted = (word: string | null) => (word === null ? "null" : `"${word}"`)
const id = (prefix: string, uuid: string | null) => (uuid === null ? "null" : `"${toTypeId(prefix, uuid)}"`)
const decimal = (micros: bigint | null) => (micros === null ? "null" : `"${formatDecimal(micros)}"`)
const instant = (date: Date | null) => (date === null ? "null" : `"${date.toISOString()}"`)
