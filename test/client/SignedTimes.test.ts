import { assert, describe, it } from "vitest"
import { payingFetch, type TransferAuthorization } from "#client/client.ts"
import { stranger } from "./Strangers.ts"

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")

/** For how many seconds the signature is good that a server gets who asks for so many; a refusal's code where it gets none. */
const secondsFor = async (maxTimeoutSeconds: unknown) => {
  const offer = {
    scheme: "exact",
    network: "eip155:84532",
    amount: "10000",
    asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
    payTo: "0x0000000000000000000000000000000000000001",
    maxTimeoutSeconds
  }
  const asks = base64({ x402Version: 2, accepts: [offer] })
  const shop = await stranger(({ headers }, response) =>
    headers["payment-signature"] === undefined
      ? response.writeHead(402, { "payment-required": asks }).end()
      : response.end("served")
  )
  let signed: TransferAuthorization["message"] | undefined
  const signTypedData = async ({ message }: TransferAuthorization) => {
    signed = message
    return "0xab" as const
  }
  const before = Math.floor(Date.now() / 1000)
  const fetch = payingFetch({ signer: { address: "0x0000000000000000000000000000000000000002", signTypedData } })
  const refusal = await fetch(shop.url).then(
    () => undefined,
    (error) => error.code
  )
  if (!signed) return refusal
  const [least, most] = [before, Math.floor(Date.now() / 1000)].map((start) => Number(signed?.validBefore) - start)
  return Array.from({ length: (least ?? 0) - (most ?? 0) + 1 }, (_, late) => (most ?? 0) + late)
}

describe("a signature", () => {
  for (const [asked, good] of [
    [1, 1],
    [1.9, 1],
    [300, 300],
    [600, 600],
    [601, 600],
    [1e300, 600]
  ] as const) {
    it(`is good for ${good} seconds for who asks for ${asked}`, async () => {
      assert.include(await secondsFor(asked), good)
    })
  }

  for (const asked of [0, 0.9, -1, null, "300", undefined]) {
    it(`is not given to who asks for ${JSON.stringify(asked)}`, async () => {
      assert.strictEqual(await secondsFor(asked), "NO_PAYABLE_OFFER")
    })
  }
})
