import { bytesIn } from "./Body.ts"
import { isObject, type Json, parseJson, utf8, isText } from "./Encoding.ts"
import { now } from "./Time.ts"
import type { WebhookEvent } from "./WebhookEvent.ts"
import { candidatesIn, signedAmong, type WebhookHeaders } from "./WebhookSignatures.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** A delivery as it arrived: the body before anything parsed it. */
export type WebhookDelivery =
  | { readonly body: string | Uint8Array | ArrayBuffer; readonly headers: WebhookHeaders }
  | { readonly body: Request; readonly headers?: WebhookHeaders }

export type VerifyWebhookOptions = WebhookDelivery & {
  /** The `whsec_…` text that the subscription was created with; several while it changes. */
  readonly secret: string | ReadonlyArray<string>
  /** How far the time of the signature may be from now; 300 when left out. */
  readonly toleranceSeconds?: number | undefined
  /** The time, in milliseconds since 1970; the clock's when left out. */
  readonly now?: number | Date | undefined
}

/** What a request may bring: more than any event has. */
const mostBytes = 4 * 1024 * 1024
const mostSecrets = 10

/**
 * The event in a delivery, once its signature is proven: by `X-Service-Signature`, or by the headers of Standard Webhooks.
 * Throws `WebhookVerificationError` when the delivery is not to be believed, `TypeError` when the options are wrong.
 */
export const verifyWebhook = async (options: VerifyWebhookOptions): Promise<WebhookEvent> => {
  const { toleranceSeconds = 300 } = options
  const secrets = secretsIn(options.secret)
  const time = Math.floor(Number(options.now ?? now()) / 1000)
  // Compared with what is no number, every age would pass or none.
  if (!(toleranceSeconds >= 0)) throw new TypeError("toleranceSeconds must be 0 or more")
  if (!Number.isFinite(time)) throw new TypeError("now must be a time")
  const candidates = candidatesIn(options.headers ?? headersOf(options.body))
  const body = await bytesOf(options.body)
  const signed = await signedAmong(candidates, secrets, body)
  if (signed.length === 0) throw new WebhookVerificationError("no_match")
  const ages = signed.map(({ timestamp }) => time - timestamp)
  if (!ages.some((age) => Math.abs(age) <= toleranceSeconds)) {
    throw new WebhookVerificationError(Math.max(...ages) > 0 ? "timestamp_too_old" : "timestamp_in_future")
  }
  return eventIn(body)
}

const secretsIn = (secret: string | ReadonlyArray<string>): ReadonlyArray<string> => {
  const secrets = isText(secret) ? [secret] : [...(secret ?? [])]
  const areRight = secrets.every((one) => isText(one) && /^whsec_\S+$/.test(one))
  if (areRight && secrets.length > 0 && secrets.length <= mostSecrets) return secrets
  throw new TypeError(`secret must be the whsec_… text of the subscription, or 1 to ${mostSecrets} of them`)
}

const isRequest = (body: unknown): body is Request => isObject(body) && "bodyUsed" in body

/** By its name: one of another realm, as test runners and workers have them, is no instance of this one's class. */
const isBuffer = (body: unknown): body is ArrayBuffer => Object(body)[Symbol.toStringTag] === "ArrayBuffer"

const headersOf = (body: unknown): WebhookHeaders => (isRequest(body) ? body.headers : {})

const bytesOf = async (body: VerifyWebhookOptions["body"]): Promise<Uint8Array> => {
  if (isText(body)) return utf8(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  if (isRequest(body)) {
    if (body.bodyUsed) throw new WebhookVerificationError("not_text")
    return readAll(body)
  }
  if (isBuffer(body)) return new Uint8Array(body)
  throw new WebhookVerificationError("not_text")
}

const readAll = async (request: Request): Promise<Uint8Array> => {
  // Firefox has no `Request.body`.
  const bytes = await bytesIn(request.body ?? (await request.blob()).stream(), mostBytes)
  if (bytes) return bytes
  throw new WebhookVerificationError("body_too_large")
}

const texts = ["id", "type", "created_at", "tenant_id", "environment"]

const isEvent = (event: Json | undefined): event is Json & WebhookEvent =>
  event !== undefined && texts.every((name) => isText(event[name])) && isObject(event["data"])

const eventIn = (body: Uint8Array): WebhookEvent => {
  const event = parseJson(textOf(body))
  if (isEvent(event)) return event
  throw new WebhookVerificationError("malformed_body")
}

const textOf = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return ""
  }
}
