import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { isOnCurve } from "#domain/Edwards25519.ts"
import { Currency } from "#domain/Money.ts"
import {
  addressForm,
  assetOf,
  caip2,
  chainIdOf,
  checksumAddress,
  decodeBase58,
  encodeBase58,
  Network,
  networksOf,
  parseAddress,
  sandboxAddress
} from "#domain/Network.ts"

const networks = ["solana-devnet", "solana-mainnet", "base-sepolia", "base-mainnet"] as const
const walletId = "01890a5d-ac96-774b-bcce-b302099a8057"

describe("a network", () => {
  it("is accepted under our name and its CAIP-2 name, and shown under ours", () => {
    for (const network of networks) {
      assert.strictEqual(Schema.decodeUnknownSync(Network)(network), network)
      assert.strictEqual(Schema.decodeUnknownSync(Network)(caip2[network]), network)
      assert.strictEqual(Schema.encodeSync(Network)(network), network)
    }
  })

  it("other names are refused, those of every object included", () => {
    for (const name of ["ethereum", "eip155:1", "Base-Sepolia", "", "toString", "__proto__", null, 84532]) {
      assert.isTrue(Exit.isFailure(Schema.decodeUnknownExit(Network)(name)), String(name))
    }
  })

  it("has a chain id where signatures are bound to one", () => {
    assert.deepStrictEqual(networks.map(chainIdOf), [undefined, undefined, 84_532n, 8_453n])
  })

  it("belongs to one environment: test networks to the sandbox, main networks to live", () => {
    assert.deepStrictEqual(networksOf("sandbox"), ["solana-devnet", "base-sepolia"])
    assert.deepStrictEqual(networksOf("live"), ["solana-mainnet", "base-mainnet"])
  })

  it("names the asset of every currency by an address of its own", () => {
    for (const network of networks) {
      for (const currency of Currency.literals) {
        assert.isDefined(parseAddress(network, assetOf(network, currency).address), `${currency} on ${network}`)
      }
    }
    assert.deepStrictEqual(assetOf("base-mainnet", "USDC"), {
      address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
      name: "USD Coin",
      version: "2"
    })
  })
})

describe("base58", () => {
  /** Vectors of the Bitcoin test suite and of the draft specification. */
  const vectors: ReadonlyArray<readonly [hex: string, text: string]> = [
    ["", ""],
    ["61", "2g"],
    ["626262", "a3gV"],
    ["73696d706c792061206c6f6e6720737472696e67", "2cFupjhnEsSn59qHXstmK2ffpLv2"],
    ["00eb15231dfceb60925886b67d065299925915aeb172c06647", "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"],
    ["516b6fcd0f", "ABnLTmg"],
    ["00000000000000000000", "1111111111"],
    ["0000287fb4cd", "11233QC4"],
    ["48656c6c6f20576f726c6421", "2NEpo7TZRRrLZSi2U"]
  ]

  it("gives the published vectors, both ways", () => {
    for (const [hex, text] of vectors) {
      const bytes = Uint8Array.from(Buffer.from(hex, "hex"))
      assert.strictEqual(encodeBase58(bytes), text)
      assert.deepStrictEqual(decodeBase58(text), bytes)
    }
  })

  it("refuses characters that look like others", () => {
    for (const text of ["0", "O", "I", "l", "1 ", "+", "é"]) assert.isUndefined(decodeBase58(text), text)
  })

  it.prop(
    "is read back as what was written",
    { bytes: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))) },
    ({ bytes }) => {
      const written = Uint8Array.from(bytes)
      assert.deepStrictEqual(decodeBase58(encodeBase58(written)), written)
    }
  )
})

describe("an address", () => {
  it("on Base is 20 bytes of hexadecimal, kept in lower case", () => {
    assert.strictEqual(
      parseAddress("base-sepolia", "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
      "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
    )
    const hex = "036cbd53842c5426634e7929541ec2318f3dcf7e"
    for (const text of [hex, `0x${hex}0`, `0x${hex.slice(1)}`, `0x${hex.slice(1)}g`, ` 0x${hex}`, `0x${hex}\n`, ""]) {
      assert.isUndefined(parseAddress("base-sepolia", text), text)
    }
  })

  it("whose letters are of both cases must have the checksum of EIP-55", () => {
    /** The vectors of the proposal. */
    const published = [
      "0x52908400098527886E0F7030069857D2E4169EE7",
      "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
      "0xde709f2102306220921060314715629080e2fb77",
      "0x27b1fdb04752bbc536007a920d24acb045561c26",
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
      "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
      "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"
    ]
    for (const address of published) {
      assert.strictEqual(checksumAddress(address), address)
      assert.strictEqual(parseAddress("base-mainnet", address), address.toLowerCase())
    }
    assert.isUndefined(parseAddress("base-mainnet", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"))
    assert.isUndefined(parseAddress("base-mainnet", "0xd1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb"))
  })

  it("on Solana is 32 bytes of base58", () => {
    const mint = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU"
    assert.strictEqual(parseAddress("solana-devnet", mint), mint)
    for (const text of [
      mint.slice(5),
      `${mint}1`,
      `0${mint.slice(1)}`,
      "",
      "1".repeat(100_000),
      `0x${"1".repeat(40)}`
    ]) {
      assert.isUndefined(parseAddress("solana-devnet", text), text.slice(0, 50))
    }
  })

  it("of zeros is refused: nobody holds its key", () => {
    assert.isUndefined(parseAddress("base-sepolia", `0x${"0".repeat(40)}`))
    assert.isUndefined(parseAddress("solana-devnet", "1".repeat(32)))
  })

  it("derived for a sandbox wallet is one of its network, the same every time, and its own", () => {
    for (const network of networks) {
      const address = sandboxAddress(network, walletId)
      assert.strictEqual(parseAddress(network, address), address, addressForm(network))
      assert.strictEqual(sandboxAddress(network, walletId), address)
      assert.notStrictEqual(sandboxAddress(network, walletId.replace("01", "02")), address)
    }
  })

  it("derived for a sandbox wallet on Solana could be a key's: clients do not pay to other addresses", () => {
    for (let wallet = 0; wallet < 16; wallet++) {
      const bytes = decodeBase58(sandboxAddress("solana-devnet", `${wallet}`)) ?? assert.fail("no base58")
      assert.isTrue(isOnCurve(bytes), String(wallet))
    }
  })
})
