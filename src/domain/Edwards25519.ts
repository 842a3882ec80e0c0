// The curve of Ed25519: which 32 bytes can be a public key.

const p = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

const power = (base: bigint, exponent: bigint): bigint => {
  let result = 1n
  let square = base
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % p
    square = (square * square) % p
  }
  return result
}

/** Whether 32 bytes are a point of edwards25519 as validators judge it: x² = (y² - 1) / (dy² + 1) has a solution. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  const little = Buffer.from(bytes).reverse()
  little[0] = (little[0] ?? 0) & 0x7f
  const y = BigInt(`0x${little.toString("hex")}`)
  const square = (y * y) % p
  // A quotient is a square when the product is; the divisor is never zero.
  const product = ((square + p - 1n) * (d * square + 1n)) % p
  return power(product, (p - 1n) / 2n) !== p - 1n
}
