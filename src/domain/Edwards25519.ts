// The curve of Ed25519: which 32 bytes can be a public key.

const p = 2n ** 255n - 19n
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

const lowBits = (value: bigint): number => Number(BigInt.asIntN(32, value))

/** The bit that says whether 2 is no square modulo the odd `n`. */
const two = (n: number): number => (n >> 1) ^ (n >> 2)

/**
 * Whether `value` is a square modulo p, as 0 is: its Jacobi symbol, by the quotients of Euclid's algorithm. It concerns only
 * low bits of the operands, so these are carried in 32 bits beside them; and a run of quotients is found from the operands' first
 * digits (Lehmer), so that long numbers are multiplied once for each run.
 */
const isSquare = (value: bigint): boolean => {
  let [x, y] = [p, value]
  let [xLow, yLow] = [lowBits(p), lowBits(value)]
  // The symbol is (x | y) when y is odd and (y | x) otherwise; the lowest bit here counts how often its sign has changed. To begin
  // with it has not, whichever of the two it is, because p leaves 1 when divided by 4.
  let flips = 0
  const divide = (quotient: number) => {
    const rest = (xLow - Math.imul(quotient, yLow)) | 0
    if (yLow & 1) flips ^= rest & (yLow >> 1) & (rest >> 1)
    else if (yLow & 2) flips ^= two(xLow) ^ two(rest) ^ (((xLow ^ rest) >> 1) & (yLow >> 2))
    xLow = yLow
    yLow = rest
  }
  while (y > 0n) {
    const shift = BigInt(Math.max(0, Math.floor(Math.log2(Number(x))) - 50))
    let [high, low] = [Number(x >> shift), Number(y >> shift)]
    let [a, b, c, e] = [1, 0, 0, 1]
    while (low + c > 0 && low + e > 0) {
      const quotient = Math.floor((high + a) / (low + c))
      if (quotient !== Math.floor((high + b) / (low + e))) break
      ;[a, b, c, e] = [c, e, a - quotient * c, b - quotient * e]
      ;[high, low] = [low, high - quotient * low]
      divide(quotient)
    }
    if (b === 0) {
      divide(lowBits(x / y))
      ;[x, y] = [y, x % y]
    } else [x, y] = [BigInt(a) * x + BigInt(b) * y, BigInt(c) * x + BigInt(e) * y]
  }
  return (flips & 1) === 0
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
