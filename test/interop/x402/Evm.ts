import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { funded } from "./World.ts"

/** A new key whose address has a funded wallet on Base Sepolia. */
export const evmPayer = async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  return { account, payer: await funded("base-sepolia", account.address) }
}
