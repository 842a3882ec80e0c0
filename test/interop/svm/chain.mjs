// A real Solana runtime in this process: the token program moves tokens of a mint that stands at the real address.
import { getBase64Encoder, getTransactionDecoder } from "@solana/kit"
import { FailedTransactionMetadata, LiteSVM } from "litesvm"
import { encodeBase58 } from "../../../src/domain/Network.ts"
import { addressBytes, associatedTokenAccount, programs } from "../../../src/domain/protocol/SolanaKeys.ts"
import { answerSolanaRpc } from "../../../src/domain/protocol/SolanaRpc.ts"
import { decodeTransaction } from "../../../src/domain/protocol/SolanaTransaction.ts"

const token = encodeBase58(programs.token)
const rent = 2_039_280n

const read = (base64) => getTransactionDecoder().decode(getBase64Encoder().encode(base64))
const failure = (result) => (result instanceof FailedTransactionMetadata ? result.toString() : undefined)

/** A chain with this mint, exactly as our own node shows the mint's account. */
export const openChain = (mint) => {
  const svm = new LiteSVM()
  const rpc = (request) =>
    answerSolanaRpc(request, { slot: Number(svm.getClock().slot), blockhash: svm.latestBlockhash(), mints: [mint] })
  const { value } = rpc({
    jsonrpc: "2.0",
    id: 1,
    method: "getAccountInfo",
    params: [mint, { encoding: "base64" }]
  }).result
  svm.setAccount({
    address: mint,
    data: new Uint8Array(Buffer.from(value.data[0], "base64")),
    executable: value.executable,
    lamports: BigInt(value.lamports),
    programAddress: value.owner,
    space: BigInt(value.space)
  })
  const accountOf = (owner) => encodeBase58(associatedTokenAccount(owner, mint, programs.token))
  return {
    rpc,
    blockhash: () => svm.latestBlockhash(),
    expireBlockhash: () => svm.expireBlockhash(),
    airdrop: (address, lamports) => svm.airdrop(address, lamports),
    lamports: (address) => svm.getBalance(address) ?? 0n,
    /** Gives `owner` an account with this many tokens. */
    give(owner, amount) {
      const data = Buffer.alloc(165)
      data.set(addressBytes(mint), 0)
      data.set(addressBytes(owner), 32)
      data.writeBigUInt64LE(amount, 64)
      data[108] = 1
      const account = {
        data: new Uint8Array(data),
        executable: false,
        lamports: rent,
        programAddress: token,
        space: 165n
      }
      svm.setAccount({ address: accountOf(owner), ...account })
    },
    tokens(owner) {
      const account = svm.getAccount(accountOf(owner))
      return account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
    },
    /** What goes wrong when this is executed, which it is not; undefined when nothing does. */
    simulate: (base64) => failure(svm.simulateTransaction(read(base64))),
    /** The same, and it is executed. */
    send: (base64) => failure(svm.sendTransaction(read(base64)))
  }
}

/** The transaction with the fee payer's signature in its place. */
export const coSign = (base64, feePayer) => {
  const { message } = decodeTransaction(base64)
  const bytes = Buffer.from(base64, "base64")
  bytes.set(feePayer.sign(message), 1)
  return bytes.toString("base64")
}
