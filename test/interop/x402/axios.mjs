import axios from "axios"
import { decodePaymentResponseHeader, wrapAxiosWithPaymentFromConfig } from "@x402/axios"
import { ExactEvmScheme } from "@x402/evm-2.11"
import { Readable } from "node:stream"
import { evmPayer } from "./Evm.ts"
import { suite } from "./Suite.ts"
import { versionOf } from "./versionOf.ts"

const { account, payer } = await evmPayer()

/** Axios as an application uses it; its answer as `Response`, streams included. */
const pay = async (url, init = {}, watch = {}) => {
  const plain = axios.create({ responseType: "stream", validateStatus: (status) => status !== 402 })
  plain.interceptors.response.use(undefined, async (error) => {
    if (error.response?.status === 402) await watch.quoted?.()
    throw error
  })
  plain.interceptors.request.use((config) => {
    watch.sent?.(new Headers(config.headers.toJSON()))
    return config
  })
  const api = wrapAxiosWithPaymentFromConfig(plain, {
    schemes: [{ network: "eip155:*", client: new ExactEvmScheme(account) }]
  })
  const { method = "GET", body, headers } = init
  const answer = await api.request({ url, method, headers, data: body }).catch((error) => {
    if (error.response === undefined) throw error
    return error.response
  })
  return new Response(Readable.toWeb(answer.data), { status: answer.status, headers: answer.headers.toJSON() })
}

await suite({
  client: "@x402/axios",
  version: versionOf("@x402/axios"),
  protocol: "x402 v2 exact",
  network: "base-sepolia",
  payer,
  header: "payment-signature",
  echoesQuote: true,
  pay,
  receipt: (response) => decodePaymentResponseHeader(response.headers.get("payment-response")).transaction
})
