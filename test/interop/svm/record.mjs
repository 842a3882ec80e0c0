// Prints test/domain/protocol/SvmRecordings.ts: what the unmodified clients sign with the tests' throw-away keys.
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit"
import { ExactSvmScheme } from "@x402/svm/exact/client"
import { ExactSvmSchemeV1 } from "@x402/svm/v1"
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token"
import { findAssociatedTokenPda, TOKEN_2022_PROGRAM_ADDRESS } from "@solana-program/token-2022"
import { createHash } from "node:crypto"
import { createServer } from "node:http"
import { assetOf, caip2 } from "../../../src/domain/Network.ts"
import { answerSolanaRpc } from "../../../src/domain/protocol/SolanaRpc.ts"
import { keysOf, seedOf } from "../../domain/protocol/SvmTransactions.ts"

const usdc = assetOf("solana-devnet", "USDC").address
const eurc = assetOf("solana-devnet", "EURC").address
const blockhash = keysOf("any hash").address
const rpc = createServer(async (request, response) => {
  const body = JSON.parse((await request.toArray()).join(""))
  response.end(JSON.stringify(answerSolanaRpc(body, { slot: 1, blockhash, mints: [usdc, eurc] })))
})
await new Promise((resolve) => rpc.listen(0, "127.0.0.1", resolve))
const rpcUrl = `http://127.0.0.1:${rpc.address().port}`

const signer = await createKeyPairSignerFromPrivateKeyBytes(seedOf("payer"))
const offer = (amount, asset, extra) => ({
  scheme: "exact",
  network: caip2["solana-devnet"],
  amount,
  asset,
  payTo: keysOf("seller").address,
  maxTimeoutSeconds: 300,
  extra: { feePayer: keysOf("fee payer").address, ...extra }
})
const memo = { memo: "pr_recorded 1" }
const version2 = async (accepted) => {
  const { payload } = await new ExactSvmScheme(signer, { rpcUrl }).createPaymentPayload(2, accepted)
  return { offer: accepted, transaction: payload.transaction }
}
const version1 = async ({ amount, network, ...rest }) => {
  const requirements = { ...rest, network: "solana-devnet", maxAmountRequired: amount }
  const { payload } = await new ExactSvmSchemeV1(signer, { rpcUrl }).createPaymentPayload(1, requirements)
  return { offer: { ...rest, amount, network }, transaction: payload.transaction }
}
const recordings = {
  usdc: await version2(offer("10000", usdc, { ...memo, recentBlockhash: blockhash })),
  eurc: await version2(offer("1", eurc, memo)),
  noMemo: await version2(offer("999999000000", usdc, {})),
  version1: await version1(offer("10000", usdc, memo))
}
rpc.close()
rpc.closeAllConnections()

const hash = createHash("sha256")
for (let index = 0; index < 200; index++) {
  const [mint, tokenProgram] = index % 2 === 0 ? [usdc, TOKEN_PROGRAM_ADDRESS] : [eurc, TOKEN_2022_PROGRAM_ADDRESS]
  const [account] = await findAssociatedTokenPda({ owner: keysOf(`owner ${index}`).address, mint, tokenProgram })
  hash.update(account)
}

console.log('import type { Offer } from "#domain/protocol/Authorization.ts"\n')
console.log("/** SHA-256 over 200 token accounts, as @solana-program/token-2022 derives them. */")
console.log(`export const derivations = "${hash.digest("hex")}"\n`)
console.log(
  "/** Made once by `node test/interop/svm/record.mjs` with @x402/svm 2.27.0 as it is: offers, and what the client signs. */"
)
console.log("export const recordings = ")
console.log(
  `${JSON.stringify(recordings)} satisfies Record<string, { readonly offer: Offer; readonly transaction: string }>`
)
