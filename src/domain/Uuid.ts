import { hash } from "node:crypto"

/** A uuid of this version from the first 16 bytes, which are marked as one. */
export const uuidOf = (bytes: Buffer, version: 7 | 8): string => {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return readUuid(bytes, 0)
}

/** The uuid that stands for a text: a UUIDv8, the same in every process, and another one for every other text. */
export const uuidFrom = (text: string): string => uuidOf(hash("sha256", text, "buffer"), 8)

/** The uuid that these 16 bytes are. */
export const readUuid = (bytes: Buffer, offset: number): string => {
  const hex = bytes.toString("hex", offset, offset + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
