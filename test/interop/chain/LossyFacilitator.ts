import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { encodeFunctionData, type Hex } from "viem"
import type { Authorization } from "../../../src/domain/protocol/Authorization.ts"
import { addresses, tokenAbi } from "./Devnet.ts"
import type { Payer } from "./Payer.ts"

/** The call of the token that a signed transfer is for. */
export const transferOf = (payload: unknown): Hex => {
  const { authorization, signature } = (payload as { payload: { authorization: Record<string, Hex>; signature: Hex } })
    .payload
  const { from, nonce, to, validBefore, value } = authorization
  const v = Number.parseInt(signature.slice(130), 16)
  const [r, s] = [signature.slice(0, 66) as Hex, `0x${signature.slice(66, 130)}` as Hex]
  return encodeFunctionData({
    abi: tokenAbi,
    functionName: "transferWithAuthorization",
    args: [from!, to!, BigInt(value!), 0n, BigInt(validBefore!), nonce!, v, r, s]
  })
}

/**
 * A facilitator at its worst: brings the authorisation to the chain and answers 502; asked again it finds the authorisation used. Told
 * to fail, it sends nothing and answers 502 for ever.
 */
export const start = async (helper: Payer, { payload }: Authorization) => {
  let sent: Hex | undefined
  let broken = false
  const data = transferOf(payload)
  const bring = async () =>
    await helper.wallet.sendTransaction({ to: addresses.token, data, gas: 200_000n, ...helper.fees })
  const server = createServer(async (request, response) => {
    for await (const _ of request) {
      // Whatever it asks.
    }
    if (sent === undefined || broken) {
      if (!broken) sent = await bring()
      return response.writeHead(502).end("<html>Bad Gateway</html>")
    }
    const body = { success: false, errorReason: "invalid_exact_evm_nonce_already_used", transaction: "" }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    transaction: () => sent,
    fails: () => {
      broken = true
    },
    stop: async () => {
      server.close()
      server.closeAllConnections()
    }
  }
}
