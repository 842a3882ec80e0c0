import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { isOnCurve } from "#domain/Edwards25519.ts"

const p = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Euler's criterion, which is the definition: a number is no square when its power of half the group's order is -1. */
const byDefinition = (y: bigint): boolean => {
  let [result, square] = [1n, ((((y * y - 1n) % p) + p) * ((d * y * y + 1n) % p)) % p]
  for (let left = (p - 1n) / 2n; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % p
    square = (square * square) % p
  }
  return result !== p - 1n
}

const encode = (y: bigint, sign = 0n): Uint8Array =>
  Buffer.from((y | (sign << 255n)).toString(16).padStart(64, "0"), "hex").reverse()

describe("Edwards25519", () => {
  it("a point is on the curve by Euler's criterion: near 0 and p, above p, at powers of two and at 300 that are drawn", () => {
    const near = Array.from({ length: 40 }, (_, index) => [
      BigInt(index),
      p - 1n - BigInt(index),
      p + BigInt(index % 19)
    ]).flat()
    const powers = Array.from({ length: 255 }, (_, index) => [2n ** BigInt(index), p - 2n ** BigInt(index)]).flat()
    const drawn = Array.from(
      { length: 300 },
      (_, index) => BigInt(`0x${createHash("sha256").update(String(index)).digest("hex")}`) >> 1n
    )
    for (const y of [...near, ...powers, ...drawn]) {
      for (const sign of [0n, 1n]) assert.strictEqual(isOnCurve(encode(y, sign)), byDefinition(y), String(y))
    }
  })
})
