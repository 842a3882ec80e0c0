import { createHash } from "node:crypto"
import { encodeBase58, type Network } from "./Network.ts"

/** What stands for the transaction of a payment where the ledger is the chain: the same each time, in the form of its network. */
export const sandboxTransaction = (network: Network, paymentId: string): string => {
  const digest = (part: string) => createHash("sha256").update(`turnpike sandbox ${part} ${paymentId}`).digest()
  return network.startsWith("base-")
    ? `0x${digest("transaction").toString("hex")}`
    : encodeBase58(Buffer.concat([digest("transaction"), digest("signature")]))
}
