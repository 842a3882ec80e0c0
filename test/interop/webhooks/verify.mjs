// Whatever the platform posts is verified by the libraries that receivers already have.
import { createServer } from "node:http"
import { once } from "node:events"
import { randomBytes } from "node:crypto"
import { api, attempt, expect } from "../x402/World.ts"
import { signed, verifiers } from "./Verifiers.mjs"

const newSecret = () => `whsec_${randomBytes(24).toString("base64")}`

const letters = ["a", " ", "\n", '"', "\\", "é", "€", "🛣", "\u2028", "\u0000", "\uD800", "漢", "0.01"]
const nonsense = () => Array.from(randomBytes(60), (byte) => letters[byte % letters.length]).join("")

const refused = async (verifier, ...delivery) => {
  const id = await Promise.resolve()
    .then(() => verifier.verify(...delivery))
    .catch(() => undefined)
  expect("taken for an event", id, undefined)
}

/** A receiver that keeps what arrives. */
const openReceiver = async () => {
  const waiting = []
  const received = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const delivery = { headers: request.headers, body: Buffer.concat(chunks) }
    const taker = waiting.shift()
    if (taker === undefined) received.push(delivery)
    else taker(delivery)
    response.end()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${server.address().port}/hooks`,
    next: async () => received.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    close: () => void server.close().closeAllConnections()
  }
}

const idIn = ({ body }) => JSON.parse(body.toString()).id

for (const verifier of verifiers) {
  await attempt(verifier, "1,000 bodies of all letters", async () => {
    for (let round = 0; round < 1_000; round++) {
      const [event, secret] = [`evt_${round}`, newSecret()]
      const about = {
        id: event,
        type: "webhook.test",
        created_at: "",
        tenant_id: "",
        environment: "",
        data: { memo: nonsense() }
      }
      const body = Buffer.from(JSON.stringify(about))
      expect("event", await verifier.verify(body, signed([secret], body, event), secret), event)
    }
  })
  await attempt(verifier, "298 s old is taken, 302 s old is not", async () => {
    const [secret, now] = [newSecret(), Math.floor(Date.now() / 1000)]
    const about = { id: "evt_1", type: "webhook.test", created_at: "", tenant_id: "", environment: "", data: {} }
    const body = Buffer.from(JSON.stringify(about))
    expect("event", await verifier.verify(body, signed([secret], body, "evt_1", now - 298), secret), "evt_1")
    await refused(verifier, body, signed([secret], body, "evt_1", now - 302), secret)
  })
}

const receiver = await openReceiver()
const { id, secret } = await api("POST", "/v1/webhooks", { url: receiver.url, events: ["*"] })
const [payer, payee] = [await api("POST", "/v1/wallets", {}), await api("POST", "/v1/wallets", {})]
await api("POST", `/v1/wallets/${payer.id}/fund`, { amount: "5.00", currency: "USDC" })

/** The deliveries of one transfer: created and completed, in whatever order they arrive. */
const transferred = async (memo) => {
  const { id } = await api("POST", "/v1/transfers", {
    from_wallet_id: payer.id,
    to_wallet_id: payee.id,
    amount: "0.01",
    currency: "USDC",
    memo
  })
  const found = []
  while (found.length < 2) {
    const delivery = await receiver.next()
    if (JSON.parse(delivery.body.toString()).data.transfer?.id === id) found.push(delivery)
  }
  return found
}

const takenBy = async (verifier, deliveries, key) => {
  for (const { body, headers } of deliveries) {
    expect("event", await verifier.verify(body, headers, key), headers["x-service-event-id"])
    expect("id in the body", idIn({ body }), headers["x-service-event-id"])
    expect("webhook-id", headers["webhook-id"], headers["x-service-event-id"])
    expect("subscription", headers["x-service-webhook-id"], id)
  }
}

for (const verifier of verifiers) {
  const delivered = await transferred(`Zoë 🛣 ${verifier.client}`)
  await attempt(verifier, "what the server posts of a transfer", () => takenBy(verifier, delivered, secret))
  await attempt(verifier, "tampered body, other secret, no signature: refused", async () => {
    for (const { body, headers } of delivered) {
      await refused(verifier, Buffer.from(body.toString().replace('"0.01"', '"9.99"')), headers, secret)
      await refused(verifier, Buffer.concat([body, Buffer.from(" ")]), headers, secret)
      await refused(verifier, body, headers, newSecret())
      const { "x-service-signature": _, "webhook-signature": __, ...bare } = headers
      await refused(verifier, body, bare, secret)
    }
  })
}

await api("POST", `/v1/webhooks/${id}/test`, {})
const isTest = ({ body }) => JSON.parse(body.toString()).type === "webhook.test"
let test = await receiver.next()
while (!isTest(test)) test = await receiver.next()
for (const verifier of verifiers) {
  await attempt(verifier, "webhook.test", () => takenBy(verifier, [test], secret))
}

const rotated = await api("POST", `/v1/webhooks/${id}/rotate-secret`, { overlap_seconds: 600 })
const overlapping = await transferred("both secrets sign")
for (const verifier of verifiers) {
  await attempt(verifier, "while the secret rotates: by the old and by the new one", async () => {
    await takenBy(verifier, overlapping, secret)
    await takenBy(verifier, overlapping, rotated.secret)
  })
}
const last = await api("POST", `/v1/webhooks/${id}/rotate-secret`, { overlap_seconds: 0 })
const after = await transferred("one secret signs")
for (const verifier of verifiers) {
  await attempt(verifier, "after it rotated: by the new one alone", async () => {
    await takenBy(verifier, after, last.secret)
    for (const { body, headers } of after) {
      for (const old of [secret, rotated.secret]) await refused(verifier, body, headers, old)
    }
  })
}
await api("DELETE", `/v1/webhooks/${id}`).catch(() => undefined)
receiver.close()
