// The curve of Ed25519: which 32 bytes can be a public key.

export const p = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** Whether a number is a square modulo p, as 0 is, by its Jacobi symbol: the power that defines it takes ten times as long. */
const isSquare = (value: bigint): boolean => {
  let [x, n] = [value, p]
  let changesSign = false
  while (x > 0n) {
    while ((x & 1n) === 0n) {
      x >>= 1n
      const last = n & 7n
      if (last === 3n || last === 5n) changesSign = !changesSign
    }
    if ((x & n & 3n) === 3n) changesSign = !changesSign
    ;[x, n] = [n % x, x]
  }
  return !changesSign
}

/** Whether 32 bytes are a point of edwards25519 as validators judge it: x² = (y² - 1) / (dy² + 1) has a solution. */
export const isOnCurve = (bytes: Uint8Array): boolean => {
  const little = Buffer.from(bytes).reverse()
  little[0] = (little[0] ?? 0) & 0x7f
  const y = BigInt(`0x${little.toString("hex")}`)
  const square = (y * y) % p
  // A quotient is a square when the product is; the divisor is never zero.
  const product = ((square + p - 1n) * (d * square + 1n)) % p
  return isSquare(product)
}
