import { createHmac } from "node:crypto"

/** What a receiver verifies: which event it is, and when it was signed in seconds since 1970. */
export interface Signed {
  readonly event: string
  readonly timestamp: number
  readonly body: Uint8Array
}

const mac = (key: string | Buffer, prefix: string, body: Uint8Array) =>
  createHmac("sha256", key).update(prefix).update(body)

/** The key of the Standard Webhooks family: what the text after `whsec_` stands for. */
const decoded = (secret: string) => Buffer.from(secret.slice(secret.indexOf("_") + 1), "base64")

/**
 * `X-Service-Signature`, keyed with the whole secret; while a secret rotates, one signature for each. There is no space after a
 * comma: verifiers of this family do not trim.
 */
export const serviceSignature = (secrets: ReadonlyArray<string>, { body, timestamp }: Signed): string => {
  let header = `t=${timestamp}`
  for (const secret of secrets) header += `,v1=${mac(secret, `${timestamp}.`, body).digest("hex")}`
  return header
}

/** `webhook-signature` of Standard Webhooks, keyed with the decoded secret; several are separated by spaces. */
export const standardSignature = (secrets: ReadonlyArray<string>, { body, event, timestamp }: Signed): string =>
  secrets.map((secret) => `v1,${mac(decoded(secret), `${event}.${timestamp}.`, body).digest("base64")}`).join(" ")
