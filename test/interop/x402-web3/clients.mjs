import { getPaymentReceipt, wrapFetch } from "@dexterai/x402/client"
import { Keypair } from "@solana/web3.js"
import { createX402Client } from "x402-solana/client"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { suite, watched } from "../x402/Suite.ts"
import { funded, server } from "../x402/World.ts"
import { versionOf } from "../x402/versionOf.ts"

const rpcUrl = `${server.baseUrl}/v1/sandbox/solana-rpc`
const common = { protocol: "x402 v2 exact", header: "payment-signature", echoesQuote: true }
const named = (client) => ({ ...common, client, version: versionOf(client, import.meta.dirname) })
const receipt = (response) => getPaymentReceipt(response).transaction

// It looks for the payer's money on the chain before it signs.
const evmPrivateKey = generatePrivateKey()
const evmRpcUrls = { "eip155:84532": `${server.baseUrl}/v1/sandbox/evm-rpc` }
await suite({
  ...named("@dexterai/x402"),
  network: "base-sepolia",
  payer: await funded("base-sepolia", privateKeyToAccount(evmPrivateKey).address),
  pay: (url, init, watch) => wrapFetch(watched(watch), { evmPrivateKey, rpcUrls: evmRpcUrls })(url, init),
  receipt
})

// These look for the token accounts of payer and seller before they sign, and do not write the memo that is asked for.
const dexter = Keypair.generate()
const rpcUrls = { "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": rpcUrl }
await suite({
  ...named("@dexterai/x402"),
  network: "solana-devnet",
  payer: await funded("solana-devnet", dexter.publicKey.toBase58()),
  pay: (url, init, watch) => wrapFetch(watched(watch), { walletPrivateKey: [...dexter.secretKey], rpcUrls })(url, init),
  receipt
})

const key = Keypair.generate()
const address = key.publicKey.toBase58()
const signTransaction = async (transaction) => {
  transaction.sign([key])
  return transaction
}
await suite({
  ...named("x402-solana"),
  network: "solana-devnet",
  payer: await funded("solana-devnet", address),
  pay: (url, init, watch) => {
    const wallet = { address, signTransaction }
    return createX402Client({ wallet, network: "solana-devnet", rpcUrl, customFetch: watched(watch) }).fetch(url, init)
  },
  receipt: (response) => JSON.parse(atob(response.headers.get("PAYMENT-RESPONSE"))).transaction
})
