import { fromBase64, utf8 } from "./Encoding.ts"
import { WebhookVerificationError } from "./WebhookVerificationError.ts"

/** One signature that came with a delivery: it is right when it is the HMAC-SHA256 of `text` and the body under `key`. */
export interface Candidate {
  /** Seconds since 1970, as they are signed. */
  readonly timestamp: number
  /** What is signed before the body. */
  readonly prefix: string
  readonly mac: Uint8Array<ArrayBuffer>
  /** How the secret becomes a key; an empty one when it cannot. */
  readonly key: (secret: string) => Uint8Array<ArrayBuffer>
}

/** However a framework keeps them, in any case: `Headers`, an object, or a list of pairs. */
export type WebhookHeaders =
  // By its name, too: the library `dom` of older compilers does not say that it can be listed.
  | Headers
  | Iterable<readonly [name: string, value: string]>
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/** Beyond these a request is not of ours, and reading it would be work for a stranger. */
const mostCharacters = 4096
const mostSignatures = 10

/** The value of a header, however the framework keeps them; undefined when it is not there. */
const headerOf = (headers: WebhookHeaders, wanted: string): string | undefined => {
  const entries = isListed(headers) ? [...headers] : Object.entries(headers)
  const values = entries.flatMap(([name, value]) => (name.toLowerCase() === wanted ? (value ?? []) : []))
  return values.length === 0 ? undefined : values.map(String).join(",")
}

const isListed = (headers: WebhookHeaders): headers is Iterable<readonly [string, string]> => Symbol.iterator in headers

/** The bytes behind hex; none when it is not that of 32. */
const bytesOfHex = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(/^[\da-f]{64}$/i.test(text) ? (text.match(/../g) ?? []) : [], (pair) => Number(`0x${pair}`))

const seconds = (text: string | undefined): number | undefined =>
  /^\d{1,11}$/.test(text ?? "") ? Number(text) : undefined

/** `t=…,v1=…[,v1=…]`, keyed with the whole secret. None when it is not to be read. */
const serviceSignatures = (value = ""): ReadonlyArray<Candidate> => {
  const parts = value.split(",").map((part) => part.trim())
  const valuesOf = (name: string) =>
    parts.flatMap((part) => (part.startsWith(`${name}=`) ? part.slice(name.length + 1) : []))
  const [time, ...more] = valuesOf("t")
  const timestamp = seconds(time)
  // Two times would leave open which one is signed.
  if (timestamp === undefined || more.length > 0) return []
  return valuesOf("v1").flatMap((text) => {
    const mac = bytesOfHex(text)
    return mac.length === 32 ? [{ timestamp, prefix: `${time}.`, mac, key: utf8 }] : []
  })
}

/** `v1,…[ v1,…]` of Standard Webhooks, keyed with what the secret spells. None when it is not to be read. */
const standardSignatures = (value = "", id: string | undefined, time: string | undefined): ReadonlyArray<Candidate> => {
  const timestamp = seconds(time)
  if (timestamp === undefined || id === undefined || id === "" || id.length > mostCharacters) return []
  return value.split(" ").flatMap((part) => {
    const mac = fromBase64(part.startsWith("v1,") ? part.slice(3) : "")
    const key = (secret: string) => fromBase64(secret.slice("whsec_".length))
    return mac.length === 32 ? [{ timestamp, prefix: `${id}.${time}.`, mac, key }] : []
  })
}

/** Every signature of a delivery, of both kinds; throws when there is none, or nothing that can be read. */
export const candidatesIn = (headers: WebhookHeaders): ReadonlyArray<Candidate> => {
  const service = headerOf(headers, "x-service-signature")
  const standard = headerOf(headers, "webhook-signature")
  const values = [service, standard].filter((value) => value !== undefined)
  if (values.length === 0) throw new WebhookVerificationError("missing_signature")
  const id = headerOf(headers, "webhook-id")
  const time = headerOf(headers, "webhook-timestamp")
  const found = values.some((value) => value.length > mostCharacters)
    ? []
    : [...serviceSignatures(service), ...standardSignatures(standard, id, time)]
  if (found.length === 0 || found.length > mostSignatures) throw new WebhookVerificationError("malformed_signature")
  return found
}

const isSigned = async (candidate: Candidate, secret: string, body: Uint8Array): Promise<boolean> => {
  const bytes = candidate.key(secret)
  if (bytes.length === 0) return false
  const prefix = utf8(candidate.prefix)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"])
  return crypto.subtle.verify("HMAC", key, candidate.mac, signed)
}

/** Those that are right under one of the secrets. All are tried, so that the time it takes tells nothing. */
export const signedAmong = async (
  candidates: ReadonlyArray<Candidate>,
  secrets: ReadonlyArray<string>,
  body: Uint8Array
): Promise<ReadonlyArray<Candidate>> => {
  const tries = candidates.flatMap((candidate) =>
    secrets.map(async (secret) => ((await isSigned(candidate, secret, body)) ? [candidate] : []))
  )
  return (await Promise.all(tries)).flat()
}
