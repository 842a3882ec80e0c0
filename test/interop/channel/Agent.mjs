import { createPrivateKey, sign } from "node:crypto"
import { api, server } from "../x402/World.ts"

const call = async (method, path, body) => {
  const response = await fetch(new URL(path, server.baseUrl), {
    method,
    headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text)
}

/** A new agent, its key, and a session that it opened. */
export const newAgent = async () => {
  const { authKey, data } = await call("POST", "/v1/agents", { name: "Listener", generateKeypair: true })
  const { challenge } = await call("POST", `/v1/agents/${data.id}/challenge`)
  const head = Buffer.from("302e020100300506032b657004220420", "hex")
  const der = Buffer.concat([head, Buffer.from(authKey.privateKey, "base64")])
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })
  const signature = sign(null, Buffer.from(challenge), key).toString("base64")
  const { sessionToken } = await call("POST", `/v1/agents/${data.id}/authenticate`, { challenge, signature })
  return { agentId: data.id, wallet: data.wallet_id, privateKey: authKey.privateKey, token: sessionToken }
}

const purse = await api("POST", "/v1/wallets", {})
await api("POST", `/v1/wallets/${purse.id}/fund`, { amount: "5.00", currency: "USDC" })

/** Pays the agent: the id of the transfer. */
export const pay = async ({ wallet }) => {
  const money = { amount: "0.01", currency: "USDC" }
  const { id } = await api("POST", "/v1/transfers", { from_wallet_id: purse.id, to_wallet_id: wallet, ...money })
  return id
}
