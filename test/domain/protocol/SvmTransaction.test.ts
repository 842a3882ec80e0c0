import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { isOnCurve } from "#domain/Edwards25519.ts"
import { assetOf, decodeBase58, encodeBase58 } from "#domain/Network.ts"
import { associatedTokenAccount, isSignedBy, keyPair, programs } from "#domain/protocol/SolanaKeys.ts"
import { decodeTransaction, isWritable, maxTransactionBytes } from "#domain/protocol/SolanaTransaction.ts"
import { derivations, recordings } from "./SvmRecordings.ts"
import { keysOf, seedOf, messageOf, partsOf, signed, wire } from "./SvmTransactions.ts"

const { offer, transaction } = recordings.usdc
const bytes = Buffer.from(transaction, "base64")
const decoded = decodeTransaction(transaction)!
const payer = keysOf("payer")
const again = (edited: Uint8Array) => decodeTransaction(Buffer.from(edited).toString("base64"))

describe("a Solana transaction", () => {
  it("is read as the client wrote it", () => {
    assert.strictEqual(decoded.version, 0)
    assert.deepStrictEqual(
      decoded.keys.slice(0, 2).map((key) => encodeBase58(key)),
      [keysOf("fee payer").address, payer.address]
    )
    assert.strictEqual(encodeBase58(decoded.blockhash), offer.extra.recentBlockhash)
    assert.strictEqual(decoded.signatures.length, 2)
    assert.isTrue(isSignedBy(decoded.keys[1]!, decoded.message, decoded.signatures[1]!))
    assert.deepStrictEqual(
      decoded.instructions.map(({ program }) => decoded.keys[program]),
      [programs.computeBudget, programs.computeBudget, programs.token, programs.memo].map((key) => Uint8Array.from(key))
    )
    assert.strictEqual(Buffer.from(decoded.instructions[3]!.data).toString(), offer.extra.memo)
    assert.strictEqual(decoded.lookups, 0)
    assert.strictEqual(Buffer.compare(messageOf(partsOf(transaction)), decoded.message), 0)
  })

  it("says which accounts may change: the fee payer and the two token accounts", () => {
    const writable = decoded.keys.map((_, place) => isWritable(decoded, place))
    assert.deepStrictEqual(writable, [true, false, true, true, false, false, false, false])
  })

  it("is the same in the legacy format", () => {
    const { message, version, ...legacy } = decodeTransaction(
      signed({ ...partsOf(transaction), versioned: false }, payer)
    )!
    assert.strictEqual(version, "legacy")
    assert.deepStrictEqual(legacy.instructions, decoded.instructions)
    assert.strictEqual(message.length, decoded.message.length - 2)
  })

  it("is none when it is cut anywhere, or when something follows it", () => {
    for (let length = 0; length < bytes.length; length++)
      assert.isUndefined(again(bytes.subarray(0, length)), `${length}`)
    assert.isUndefined(again(Buffer.concat([bytes, Uint8Array.of(0)])))
    assert.isDefined(again(bytes))
  })

  it("is none in another version, or with a length that is written longer than it has to be", () => {
    const later = Buffer.from(bytes)
    later[129] = 0x81
    assert.isUndefined(again(later))
    assert.isUndefined(again(Buffer.concat([Uint8Array.of(0x82, 0), bytes.subarray(1)])))
    assert.isUndefined(again(Buffer.concat([Uint8Array.of(0x82, 0x80, 0), bytes.subarray(1)])))
  })

  it("is none in anything but base64, or beyond the size of a packet", () => {
    for (const text of ["", "=", " ", `${transaction} `, transaction.replace("A", "-"), "%", "é"]) {
      assert.isUndefined(decodeTransaction(text), text.slice(-10))
    }
    const memo = (length: number) => {
      const parts = partsOf(transaction)
      const [units, price, transfer, note] = parts.instructions
      const data = new Uint8Array(length).fill(97)
      return signed({ ...parts, instructions: [units!, price!, transfer!, { ...note!, data }] }, payer)
    }
    const room = maxTransactionBytes - bytes.length + 13 - 1
    assert.isDefined(decodeTransaction(memo(room)))
    assert.isUndefined(decodeTransaction(memo(room + 1)))
    assert.isUndefined(decodeTransaction("A".repeat(1_000_000)))
  })

  it("is none when it has more or fewer signatures than its message says", () => {
    const { message } = decoded
    assert.isUndefined(decodeTransaction(wire(message, [undefined])))
    assert.isUndefined(decodeTransaction(wire(message, [undefined, undefined, undefined])))
  })

  it("is none when a table gives it nothing, or tables give it more accounts than an index can say", () => {
    const parts = partsOf(transaction)
    assert.strictEqual(decodeTransaction(signed({ ...parts, lookups: [[0], [1]] }, payer))?.lookups, 2)
    assert.isUndefined(decodeTransaction(signed({ ...parts, lookups: [[0], []] }, payer)))
    const taking = (accounts: number) =>
      signed({ ...parts, lookups: [Array(accounts - parts.keys.length).fill(0)] }, payer)
    assert.isDefined(decodeTransaction(taking(256)))
    assert.isUndefined(decodeTransaction(taking(257)))
  })
})

describe("a Solana address", () => {
  it("of a token account is derived as everybody derives it", () => {
    const hash = createHash("sha256")
    for (let index = 0; index < 200; index++) {
      const even = index % 2 === 0
      const mint = assetOf("solana-devnet", even ? "USDC" : "EURC").address
      const token = even ? programs.token : programs.token2022
      hash.update(encodeBase58(associatedTokenAccount(keysOf(`owner ${index}`).address, mint, token)!))
    }
    assert.strictEqual(hash.digest("hex"), derivations)
    const [one, other] = [programs.token, programs.token2022].map((token) =>
      associatedTokenAccount(payer.address, offer.asset, token)
    )
    assert.notDeepEqual(one, other)
  })

  it("of a key is on the curve, and that of a token account is not", () => {
    const { address } = keysOf("owner")
    assert.isTrue(isOnCurve(decodeBase58(address)!))
    assert.isFalse(isOnCurve(associatedTokenAccount(address, offer.asset, programs.token)!))
    // y = 0, y = 1 and y = p - 1 have an x, y = 2 has none.
    const y = (low: number, rest: number, high: number) => Uint8Array.from([low, ...Array(30).fill(rest), high])
    assert.deepStrictEqual([y(0, 0, 0), y(1, 0, 0), y(0xec, 0xff, 0x7f), y(2, 0, 0), y(1, 0, 0x80)].map(isOnCurve), [
      true,
      true,
      true,
      false,
      true
    ])
  })

  it("of a key pair is the same whenever it is made, and signs what its key proves", () => {
    const pair = keyPair(new Uint8Array(32).fill(1))
    assert.strictEqual(pair.address, "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9")
    const message = Buffer.from("message")
    const signature = pair.sign(message)
    assert.isTrue(isSignedBy(decodeBase58(pair.address)!, message, signature))
    assert.isFalse(isSignedBy(decodeBase58(pair.address)!, Buffer.from("massage"), signature))
    assert.isFalse(isSignedBy(decodeBase58(payer.address)!, message, signature))
  })

  it("of small order proves nothing, as a key or within a signature", () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const number = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`)
    const scalar = (value: bigint) => Buffer.from((value % order).toString(16).padStart(64, "0"), "hex").reverse()
    const hash = (...parts: ReadonlyArray<Uint8Array>) => createHash("sha512").update(Buffer.concat(parts)).digest()
    const secret = hash(seedOf("owner")).subarray(0, 32)
    secret[0]! &= 248
    secret[31] = (secret[31]! & 127) | 64
    const key = decodeBase58(keysOf("owner").address)!
    const message = Buffer.from("message")
    const fields = ["00", "01", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"]
    fields.push("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
    fields.push(...["ec", "ed", "ee"].map((low) => `${low}${"ff".repeat(30)}7f`))
    for (const point of fields.map((field) => Buffer.from(field.padEnd(64, "0"), "hex"))) {
      for (const sign of [0, 0x80]) {
        point[31] = (point[31]! & 0x7f) | sign
        // What anybody can make: with the point as key for many messages at once, with the point in a signature for one.
        for (let attempt = 0; attempt < 8; attempt++) {
          const any = Buffer.from(`message ${attempt}`)
          assert.isFalse(isSignedBy(point, any, Buffer.concat([key, scalar(number(secret))])))
        }
        const fitting = scalar(number(hash(point, key, message)) * number(secret))
        assert.isFalse(isSignedBy(key, message, Buffer.concat([point, fitting])))
      }
    }
  })

  it("that is no owner or no mint has no token account", () => {
    for (const text of ["", "0", "1".repeat(31), "z".repeat(44), "x".repeat(1_000_000)]) {
      assert.isUndefined(associatedTokenAccount(text, offer.asset, programs.token))
      assert.isUndefined(associatedTokenAccount(payer.address, text, programs.token))
    }
  })
})
