import { SecureRandom } from "effect/crypto"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Unguessable text of `length` base62 characters: 5.95 bits each. */
export const randomText = (length: number): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of SecureRandom.randomBytesUnsafe(2 * length)) {
      // The last 8 values would make some characters likelier than others.
      if (byte < 248 && text.length < length) text += alphabet.charAt(byte % 62)
    }
  }
  return text
}
