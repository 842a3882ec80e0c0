import { Schema, SchemaTransformation } from "effect"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
const codesOf = (text: string) => Array.from(text, (letter) => letter.charCodeAt(0))
const letters = codesOf(alphabet)
/** What a letter stands for, by its code; -1 when it is none. */
const digits = new Int8Array(128).fill(-1)
for (const [digit, code] of letters.entries()) digits[code] = digit
const hex = codesOf("0123456789abcdef")
const hyphen = 45
const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** No uuid is above this one: lists that go down from the newest begin here. */
export const highestUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/** The TypeID of a uuid: prefix, underscore, 26 characters of Crockford base32 (the public TypeID specification). */
export const toTypeId = (prefix: string, uuid: string): string => {
  // 26 letters carry 130 bits: two spare ones lead. As codes, because every record shows several ids, and a text that grows letter
  // by letter costs a text for each of them.
  const codes: Array<number> = []
  let pending = 0
  let bits = 2
  for (let index = 0; index < uuid.length; index++) {
    const code = uuid.charCodeAt(index)
    if (code === hyphen) continue
    pending = (pending << 4) | (code < 58 ? code - 48 : code - 87)
    bits += 4
    if (bits < 5) continue
    bits -= 5
    codes.push(letters[(pending >> bits) & 31] ?? 0)
    pending &= (1 << bits) - 1
  }
  return `${prefix}_${String.fromCharCode(...codes)}`
}

/** The uuid behind a TypeID of this prefix or behind a plain uuid in any case; undefined when it is neither. */
export const fromTypeId = (prefix: string, text: string): string | undefined => {
  const lower = text.toLowerCase()
  if (uuidPattern.test(lower)) return lower
  if (text.length !== prefix.length + 27 || !text.startsWith(`${prefix}_`)) return undefined
  const codes: Array<number> = []
  let pending = 0
  let bits = -2
  for (let index = prefix.length + 1; index < text.length; index++) {
    const digit = digits[text.charCodeAt(index)] ?? -1
    // The two bits that lead stand for nothing and may not be there.
    if (digit < 0 || (bits < 0 && digit > 7)) return undefined
    pending = (pending << 5) | digit
    bits += 5
    while (bits >= 4) {
      bits -= 4
      const { length } = codes
      if (length === 8 || length === 13 || length === 18 || length === 23) codes.push(hyphen)
      codes.push(hex[(pending >> bits) & 15] ?? 0)
    }
    pending &= (1 << bits) - 1
  }
  return String.fromCharCode(...codes)
}

const uuid = Schema.String.check(Schema.isPattern(uuidPattern, { expected: "a uuid" }))

/** What callers may write for an id of one of these prefixes. */
export const isIdentifier = (...prefixes: readonly [string, ...Array<string>]) => {
  const typeId = `${prefixes.length > 1 ? `(?:${prefixes.join("|")})` : prefixes[0]}_[0-7][0-9a-hjkmnp-tv-z]{25}`
  return Schema.isPattern(new RegExp(`^(?:${typeId}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})$`, "u"), {
    message: `must be an identifier such as ${prefixes[0]}_… or a uuid`
  })
}

const identifier = <Id extends string>(
  type: Schema.Codec<Id, string>,
  prefix: string,
  shown: "typeid" | "uuid" = "typeid"
) =>
  Schema.String.check(isIdentifier(prefix)).pipe(
    Schema.decodeTo(
      type,
      SchemaTransformation.transform({
        decode: (text: string) => fromTypeId(prefix, text) ?? text,
        encode: (id: string) => (shown === "typeid" ? toTypeId(prefix, id) : id)
      })
    )
  )

/** Identifiers are lower-case uuids inside and in the database; on the wire a TypeID, or a plain uuid where the seed says so. */
export const TenantId = identifier(uuid.pipe(Schema.brand("TenantId")), "ten", "uuid")
export type TenantId = typeof TenantId.Type
export const AccountId = identifier(uuid.pipe(Schema.brand("AccountId")), "acc")
export type AccountId = typeof AccountId.Type
/** The same account where the seed shows a plain uuid (the pay-per-call endpoint record). */
export const AccountUuid = identifier(uuid.pipe(Schema.brand("AccountId")), "acc", "uuid")
export const UserId = identifier(uuid.pipe(Schema.brand("UserId")), "usr")
export type UserId = typeof UserId.Type
export const KeyId = identifier(uuid.pipe(Schema.brand("KeyId")), "key")
export type KeyId = typeof KeyId.Type
export const WalletId = identifier(uuid.pipe(Schema.brand("WalletId")), "wal")
export type WalletId = typeof WalletId.Type
export const TransferId = identifier(uuid.pipe(Schema.brand("TransferId")), "tx")
export type TransferId = typeof TransferId.Type
export const QuoteId = identifier(uuid.pipe(Schema.brand("QuoteId")), "qt")
export type QuoteId = typeof QuoteId.Type
export const BatchId = identifier(uuid.pipe(Schema.brand("BatchId")), "bat")
export type BatchId = typeof BatchId.Type
export const ScheduleId = identifier(uuid.pipe(Schema.brand("ScheduleId")), "sch")
export type ScheduleId = typeof ScheduleId.Type
export const RefundId = identifier(uuid.pipe(Schema.brand("RefundId")), "rf")
export type RefundId = typeof RefundId.Type
export const DisputeId = identifier(uuid.pipe(Schema.brand("DisputeId")), "dp")
export type DisputeId = typeof DisputeId.Type
export const StreamId = identifier(uuid.pipe(Schema.brand("StreamId")), "str")
export type StreamId = typeof StreamId.Type
export const EndpointId = identifier(uuid.pipe(Schema.brand("EndpointId")), "epd", "uuid")
export type EndpointId = typeof EndpointId.Type
export const PaymentId = identifier(uuid.pipe(Schema.brand("PaymentId")), "pay")
export type PaymentId = typeof PaymentId.Type
export const EventId = identifier(uuid.pipe(Schema.brand("EventId")), "evt")
export type EventId = typeof EventId.Type
export const EntryId = identifier(uuid.pipe(Schema.brand("EntryId")), "ent")
export type EntryId = typeof EntryId.Type
export const AgentId = identifier(uuid.pipe(Schema.brand("AgentId")), "agt")
export type AgentId = typeof AgentId.Type
export const AuthKeyId = identifier(uuid.pipe(Schema.brand("AuthKeyId")), "auth")
export type AuthKeyId = typeof AuthKeyId.Type
/** A session of an agent or of a user, which is not its token. */
export const SessionId = identifier(uuid.pipe(Schema.brand("SessionId")), "ses")
export type SessionId = typeof SessionId.Type
export const PortalTokenId = identifier(uuid.pipe(Schema.brand("PortalTokenId")), "ptk")
export type PortalTokenId = typeof PortalTokenId.Type
export const WebhookId = identifier(uuid.pipe(Schema.brand("WebhookId")), "wh")
export type WebhookId = typeof WebhookId.Type
/** One attempt to deliver an event to a subscription. */
export const DeliveryId = identifier(uuid.pipe(Schema.brand("DeliveryId")), "del")
export type DeliveryId = typeof DeliveryId.Type
/** The tenant where the wire shows its prefix (context, webhook bodies). */
export const TenantTypeId = identifier(uuid.pipe(Schema.brand("TenantId")), "ten")
