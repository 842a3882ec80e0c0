import { Webhook as Standard } from "standardwebhooks"
import Stripe from "stripe"
import { Webhook as Svix } from "svix"
import { verifyWebhook } from "../../../src/client/client.ts"
import { serviceSignature, standardSignature } from "../../../src/domain/WebhookSignature.ts"
import { versionOf } from "../x402/versionOf.ts"

const here = import.meta.dirname
const stripe = new Stripe("sk_test_unused")
const native = "t=,v1="
const standard = "webhook-*"

const row = (client, protocol, name = client) => ({ client, version: versionOf(name, here), protocol })

/**
 * Every verifier as its own documentation uses it: `verify(body, headers, secret)` throws, or answers the id of the event.
 */
export const verifiers = [
  {
    ...row("stripe", native),
    verify: (body, headers, secret) => stripe.webhooks.constructEvent(body, headers["x-service-signature"], secret).id
  },
  {
    ...row("stripe", `${native}, async`),
    verify: async (body, headers, secret) =>
      (await stripe.webhooks.constructEventAsync(body.toString(), headers["x-service-signature"], secret)).id
  },
  {
    ...row("standardwebhooks", standard),
    verify: (body, headers, secret) => new Standard(secret).verify(body.toString(), headers).id
  },
  {
    ...row("svix", standard),
    // It answers nothing any more.
    verify: (body, headers, secret) => {
      new Svix(secret).verify(body, headers)
      return JSON.parse(body.toString()).id
    }
  },
  {
    client: "verifyWebhook",
    version: "",
    protocol: "both",
    verify: async (body, headers, secret) => (await verifyWebhook({ body, headers, secret })).id
  }
]

/** The headers of a delivery of this body, signed with these secrets. */
export const signed = (secrets, body, event, timestamp = Math.floor(Date.now() / 1000)) => {
  const about = { event, timestamp, body }
  return {
    "x-service-signature": serviceSignature(secrets, about),
    "webhook-id": event,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": standardSignature(secrets, about)
  }
}
