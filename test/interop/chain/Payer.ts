import { randomBytes } from "node:crypto"
import { createWalletClient, type Hex, http } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { Authorization, Offer } from "../../../src/domain/protocol/Authorization.ts"
import { addresses, type Devnet, tokenAbi } from "./Devnet.ts"

const randomHex = (bytes: number): Hex => `0x${randomBytes(bytes).toString("hex")}`
const lower = (address: string): Hex => `0x${address.slice(2).toLowerCase()}`

/** Somebody with a key, money in the token and gas of its own. */
export const make = async (devnet: Devnet, money: bigint) => {
  const account = privateKeyToAccount(generatePrivateKey())
  const { chain, client, url } = devnet
  const wallet = createWalletClient({ account, chain, transport: http(url) })
  await client.setBalance({ address: account.address, value: 10n ** 19n })
  const token = { address: addresses.token, abi: tokenAbi, chain, account, gas: 200_000n } as const
  const fees = { maxFeePerGas: 900_000_000_000n, maxPriorityFeePerGas: 100_000_000_000n }
  const mine = async (hash: Hex) => {
    await client.mine({ blocks: 1 })
    return await client.waitForTransactionReceipt({ hash })
  }
  await mine(await wallet.writeContract({ ...token, ...fees, functionName: "mint", args: [account.address, money] }))

  const offer = (payTo: Hex, amount: bigint, changed: Partial<Offer> = {}): Offer => ({
    scheme: "exact",
    network: "eip155:84532",
    amount: String(amount),
    asset: addresses.token,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: "USDC", version: "2" },
    ...changed
  })
  const authorization = (
    requirements: Offer,
    payload: object,
    rest: Pick<Authorization, "method" | "nonce" | "validUntil">
  ): Authorization => ({
    protocol: "x402v2",
    scheme: requirements.scheme,
    network: "base-sepolia",
    asset: lower(requirements.asset),
    payer: lower(account.address),
    payTo: lower(requirements.payTo),
    amount: BigInt(requirements.amount),
    quote: undefined,
    identifier: undefined,
    payload: { x402Version: 2, accepted: requirements, payload },
    requirements,
    ...rest
  })
  const end = async (seconds = 600n) => (await client.getBlock()).timestamp + seconds

  return {
    account,
    wallet,
    fees,
    token,
    mine,
    /** A signed transfer as every client of x402 signs it. */
    signs: async (payTo: Hex, amount: bigint, { nonce = randomHex(32), seconds = 600n } = {}) => {
      const validBefore = await end(seconds)
      const message = { from: account.address, to: payTo, value: amount, validAfter: 0n, validBefore, nonce }
      const signature = await account.signTypedData({
        domain: { name: "USDC", version: "2", chainId: 84_532, verifyingContract: addresses.token },
        types: {
          TransferWithAuthorization: [
            { name: "from", type: "address" },
            { name: "to", type: "address" },
            { name: "value", type: "uint256" },
            { name: "validAfter", type: "uint256" },
            { name: "validBefore", type: "uint256" },
            { name: "nonce", type: "bytes32" }
          ]
        },
        primaryType: "TransferWithAuthorization",
        message
      })
      const written = { ...message, value: String(amount), validAfter: "0", validBefore: String(validBefore) }
      return authorization(
        offer(payTo, amount),
        { signature, authorization: written },
        { method: "eip3009", nonce, validUntil: new Date(Number(validBefore) * 1000) }
      )
    },
    /** A signed permit; `facilitator` makes it one of `upto`. */
    permits: async (payTo: Hex, amount: bigint, facilitator?: Hex) => {
      const deadline = await end()
      const nonce = BigInt(randomHex(8))
      const spender = facilitator === undefined ? addresses.exactProxy : addresses.uptoProxy
      const permitted = { token: addresses.token, amount }
      const domain = { name: "Permit2", chainId: 84_532, verifyingContract: addresses.permit2 } as const
      const common = {
        PermitWitnessTransferFrom: [
          { name: "permitted", type: "TokenPermissions" },
          { name: "spender", type: "address" },
          { name: "nonce", type: "uint256" },
          { name: "deadline", type: "uint256" },
          { name: "witness", type: "Witness" }
        ],
        TokenPermissions: [
          { name: "token", type: "address" },
          { name: "amount", type: "uint256" }
        ]
      } as const
      const to = { name: "to", type: "address" } as const
      const validAfter = { name: "validAfter", type: "uint256" } as const
      const permit = { permitted, spender, nonce, deadline }
      const signature =
        facilitator === undefined
          ? await account.signTypedData({
              domain,
              types: { ...common, Witness: [to, validAfter] },
              primaryType: "PermitWitnessTransferFrom",
              message: { ...permit, witness: { to: payTo, validAfter: 0n } }
            })
          : await account.signTypedData({
              domain,
              types: { ...common, Witness: [to, { name: "facilitator", type: "address" }, validAfter] },
              primaryType: "PermitWitnessTransferFrom",
              message: { ...permit, witness: { to: payTo, facilitator, validAfter: 0n } }
            })
      const written = {
        from: account.address,
        permitted: { token: addresses.token, amount: String(amount) },
        spender,
        nonce: String(nonce),
        deadline: String(deadline),
        witness: { to: payTo, validAfter: "0", ...(facilitator === undefined ? {} : { facilitator }) }
      }
      return authorization(
        offer(payTo, amount, { scheme: facilitator === undefined ? "exact" : "upto" }),
        { signature, permit2Authorization: written },
        { method: "permit2", nonce: String(nonce), validUntil: new Date(Number(deadline) * 1000) }
      )
    }
  }
}
export type Payer = Awaited<ReturnType<typeof make>>

/** An address that only receives. */
export const receiver = (): Hex => lower(randomHex(20))
