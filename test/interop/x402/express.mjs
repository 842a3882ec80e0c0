// The peer of `npm run bench:x402`: the official middleware in front of an origin, with the official facilitator in process.
// Its chain is simulated where the facilitator meets it, so it costs nothing: signatures are verified, nothing is sent.
import { x402Facilitator } from "@x402/core/facilitator"
import { registerExactEvmScheme } from "@x402/evm/exact/facilitator"
import { ExactEvmScheme } from "@x402/evm/exact/server"
import { paymentMiddleware, x402ResourceServer } from "@x402/express"
import express from "express"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { Agent, request } from "undici"

const network = "eip155:84532"
const usdc = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
const payTo = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"

const chain = {
  getAddresses: () => ["0x1111111111111111111111111111111111111111"],
  getCode: async ({ address }) => (address.toLowerCase() === usdc.toLowerCase() ? "0x60" : undefined),
  readContract: async () => undefined,
  verifyTypedData: async () => {
    throw new Error("The facilitator verifies signatures of keys itself")
  },
  writeContract: async () => `0x${randomBytes(32).toString("hex")}`,
  sendTransaction: async () => `0x${randomBytes(32).toString("hex")}`,
  waitForTransactionReceipt: async () => ({ status: "success" })
}

const facilitator = registerExactEvmScheme(new x402Facilitator(), { signer: chain, networks: network })
const inProcess = {
  verify: (payload, requirements) => facilitator.verify(payload, requirements),
  settle: (payload, requirements) => facilitator.settle(payload, requirements),
  getSupported: async () => facilitator.getSupported()
}

process.once("disconnect", () => process.exit())
process.once("message", async ({ originPort }) => {
  const dispatcher = new Agent({ pipelining: 1 })
  const origin = `http://127.0.0.1:${originPort}/quotes`
  const app = express().disable("x-powered-by").disable("etag")
  const server = new x402ResourceServer(inProcess).register(network, new ExactEvmScheme())
  app.use(
    paymentMiddleware(
      { "GET /quotes": { accepts: { scheme: "exact", price: "$0.01", network, payTo }, description: "Quotes" } },
      server
    )
  )
  app.get("/quotes", async (_request, response) => {
    const { body, headers, statusCode } = await request(origin, { dispatcher })
    response.status(statusCode)
    for (const name of ["content-type", "content-length"]) response.setHeader(name, headers[name])
    response.end(Buffer.from(await body.arrayBuffer()))
  })
  const listener = app.listen(0, "127.0.0.1")
  await once(listener, "listening")
  process.send(listener.address().port)
})
