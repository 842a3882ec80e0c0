// What an agent does with our client, in whatever runtime this is run: told line by line.
import { agentChannel, payingFetch, receiptOf, turnpike, verifyWebhook } from "./client.js"

const ofBase = { currency: "USDC", network: "base-sepolia" }

/** `world` has the server, an origin that answers what arrived, and a delivery with its secret. */
export const scenario = async ({ accountId, apiKey, baseUrl, delivery, originUrl, secret }) => {
  const rows = []
  const attempt = async (what, run) => {
    const started = Date.now()
    const outcome = await run().then(
      (note) => ({ passed: true, note: note ?? "" }),
      (error) => ({ passed: false, note: `${error?.code ?? error?.name}: ${error?.message}` })
    )
    rows.push({ what, ...outcome, ms: Date.now() - started })
  }
  const expect = (what, actual, expected) => {
    if (actual !== expected) throw new Error(`${what}: expected ${String(expected)}, got ${String(actual)}`)
  }

  const api = turnpike({ baseUrl, apiKey })
  const [purse, till] = [await api.wallets.create({ payload: ofBase }), await api.wallets.create({ payload: ofBase })]
  const { gatewayUrl } = await api.endpoints.create({
    payload: {
      ...ofBase,
      name: "Runtimes",
      path: "/*",
      method: "ANY",
      accountId,
      walletId: till.id,
      basePrice: 0.01,
      originUrl
    }
  })
  await attempt("the API: a wallet is funded and lists its entries", async () => {
    await api.wallets.fund({ params: { id: purse.id }, payload: { amount: "5.00", currency: "USDC" } })
    const entries = []
    for await (const entry of api.wallets.entries.all({ params: { id: purse.id } })) entries.push(entry)
    expect("entries", entries.length, 1)
  })

  const pay = payingFetch({ baseUrl, apiKey, wallet: purse.id, maxPerCall: "0.05", maxPerDay: "0.06" })
  const form = new FormData()
  form.set("field", "value")
  const requests = {
    GET: [`${gatewayUrl}/a?b=1`],
    "POST of JSON": [
      `${gatewayUrl}/b`,
      { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } }
    ],
    "a form": [`${gatewayUrl}/c`, { method: "POST", body: form }],
    "a Request": [new Request(`${gatewayUrl}/d`, { method: "PUT", body: new Uint8Array([65, 66]) })],
    HEAD: [`${gatewayUrl}/e`, { method: "HEAD" }]
  }
  for (const [name, [input, init]] of Object.entries(requests)) {
    await attempt(`pays: ${name}`, async () => {
      const answer = await pay(input, init)
      expect("status", answer.status, 200)
      if (name === "a Request") expect("body at the origin", (await answer.json()).body, "AB")
      expect("charged", receiptOf(answer)?.amount, "0.01")
    })
  }
  await attempt("pays nothing above its cap, and no body that is there once", async () => {
    const refused = async (input, init) =>
      pay(input, init).then(
        (answer) => answer.status,
        ({ code }) => code
      )
    const body = new ReadableStream({ start: (controller) => controller.close() })
    expect("a stream", await refused(gatewayUrl, { method: "POST", body, duplex: "half" }), "BODY_NOT_REPLAYABLE")
    expect("the last that is left", await refused(gatewayUrl), 200)
    expect("above the cap", await refused(gatewayUrl), "ABOVE_MAX_PER_DAY")
    const { balance_available } = await api.wallets.get({ params: { id: till.id } })
    expect("the seller has", balance_available, "0.06")
  })
  await attempt("verifies a webhook, and no other body", async () => {
    const request = (body) => new Request("https://receiver.example/", { method: "POST", ...delivery, body })
    expect("type", (await verifyWebhook({ body: request(delivery.body), secret })).type, "wallet.funded")
    const forged = await verifyWebhook({ body: request(`${delivery.body} `), secret }).catch(({ reason }) => reason)
    expect("another body", forged, "no_match")
  })
  await attempt("hears its agent's events", async () => {
    const agent = await api.agents.create({
      payload: { name: "Listener", walletNetwork: "base-sepolia", generateKeypair: true }
    })
    const order = { from_wallet_id: purse.id, to_wallet_id: agent.data.wallet_id, amount: "0.02", currency: "USDC" }
    const events = agentChannel({
      baseUrl,
      agentId: agent.data.id,
      privateKey: agent.authKey.privateKey,
      signal: AbortSignal.timeout(20_000),
      onConnect: () => void api.transfers.create({ payload: order })
    })
    for await (const { data, type } of events) {
      if (type === "transfer_completed") return `${data.amount} ${data.currency}`
    }
    throw new Error("no event in 20 s")
  })
  return rows
}
