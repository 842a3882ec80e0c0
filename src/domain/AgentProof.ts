import { createHmac, timingSafeEqual } from "node:crypto"
import { type AgentId, toTypeId } from "./Ids.ts"
import type { TokenKey } from "./PaymentToken.ts"
import { readUuid } from "./Uuid.ts"

/** How long a challenge may be answered, in seconds. */
export const challengeLife = 60

/** How long a session lasts, in seconds. */
export const sessionLife = 3_600

/** How many sessions an agent may have at a time. */
export const maxSessions = 100

const prefix = "challenge_"
const nonceBytes = 16
const timeBytes = 6
const macBytes = 16
const end = nonceBytes + timeBytes
const pattern = /^challenge_[\w-]{51}$/

const mac = (key: TokenKey, agent: AgentId, bytes: Uint8Array): Buffer =>
  createHmac("sha256", key).update(agent).update(bytes).digest().subarray(0, macBytes)

/**
 * What an agent signs to show who it is. It is its own record: nothing is stored when one is made, so that strangers may ask for as
 * many as they like, also for agents that do not exist. `expiresAt` is in milliseconds since 1970.
 */
export const sealChallenge = (key: TokenKey, agent: AgentId, nonce: Uint8Array, expiresAt: number): string => {
  const bytes = Buffer.alloc(end + macBytes)
  bytes.set(nonce.subarray(0, nonceBytes))
  bytes.writeUIntBE(expiresAt, nonceBytes, timeBytes)
  mac(key, agent, bytes.subarray(0, end)).copy(bytes, end)
  return prefix + bytes.toString("base64url")
}

/** What a challenge of ours for this agent says; undefined for any other text. Whether it is still valid is the reader's question. */
export const readChallenge = (
  key: TokenKey,
  agent: AgentId,
  text: string
): { readonly nonce: string; readonly expiresAt: number } | undefined => {
  if (!pattern.test(text)) return undefined
  const bytes = Buffer.from(text.slice(prefix.length), "base64url")
  // Of the characters at the end some bits are in no byte: only one spelling is ours.
  if (bytes.length !== end + macBytes || prefix + bytes.toString("base64url") !== text) return undefined
  if (!timingSafeEqual(mac(key, agent, bytes.subarray(0, end)), bytes.subarray(end))) return undefined
  return { nonce: readUuid(bytes, 0), expiresAt: bytes.readUIntBE(nonceBytes, timeBytes) }
}

/** What the active key of an agent signs to be replaced, under either spelling of the agent's id. No challenge of ours begins like it. */
export const rotationTexts = (agent: AgentId): readonly [string, string] => [
  `rotate:${toTypeId("agt", agent)}`,
  `rotate:${agent}`
]
