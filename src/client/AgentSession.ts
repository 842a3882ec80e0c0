import { binary, fromBase64, isObject, utf8, isText } from "./Encoding.ts"
import { operation, type Transport } from "./Transport.ts"
import { failure } from "./TurnpikeError.ts"

/** How an agent proves who it is. */
export type AgentProof =
  | {
      /** The agent's private key: its seed of 32 bytes in base64, or a key of WebCrypto that may sign. */
      readonly privateKey: string | WebKey
      readonly sign?: undefined
    }
  | {
      /** Signs the bytes of the challenge with Ed25519, wherever the key is; answers 64 bytes, or their base64. */
      readonly sign: (challenge: string) => Signature | PromiseLike<Signature>
      readonly privateKey?: undefined
    }

/** A `CryptoKey`, by whatever name the platform's types have it. */
type WebKey = Parameters<typeof crypto.subtle.sign>[1]
type Signature = string | Uint8Array | ArrayBuffer

/** What a seed needs before it to be a PKCS#8 key, the only form in which WebCrypto takes one; in base64. */
const privateHead = "MC4CAQAwBQYDK2VwBCIEIA"

const base64Of = (signature: Signature): string =>
  isText(signature) ? signature : btoa(binary(new Uint8Array(signature)))

/** Signs what it is given; throws at once when the key is none. */
export const signer = ({ privateKey, sign }: AgentProof): ((challenge: string) => Promise<string>) => {
  if (typeof sign === "function") return async (challenge) => base64Of(await sign(challenge))
  if (!isText(privateKey)) {
    if (!isObject(privateKey)) throw new TypeError("agentChannel needs privateKey or sign")
    return (challenge) => signedBy(privateKey, challenge)
  }
  const seed = fromBase64(privateKey.replaceAll("-", "+").replaceAll("_", "/"))
  if (seed.length !== 32) throw new TypeError("privateKey must be the 32 bytes of the seed in base64")
  const bytes = Uint8Array.from([...fromBase64(privateHead), ...seed])
  let key: Promise<WebKey> | undefined
  return async (challenge) => {
    key ??= crypto.subtle.importKey("pkcs8", bytes, "Ed25519", false, ["sign"])
    return signedBy(await key, challenge)
  }
}

const signedBy = async (key: WebKey, challenge: string): Promise<string> =>
  base64Of(await crypto.subtle.sign("Ed25519", key, utf8(challenge)))

/** Opens a session for the agent: its token. */
export const logIn = async (
  transport: Transport,
  id: string,
  sign: (challenge: string) => Promise<string>,
  signal: AbortSignal
): Promise<string> => {
  const call = (name: string, payload?: object) =>
    operation(transport, ["POST", `/v1/agents/:id/${name}`])({ params: { id }, payload }, { signal })
  const challenge = textIn(await call("challenge"), "challenge")
  // The same key signs `rotate:…` to be replaced: nobody who poses as the server gets anything but a challenge signed.
  if (!/^challenge_[\w-]{1,490}$/.test(challenge)) throw strange("The server's challenge is none")
  return textIn(await call("authenticate", { challenge, signature: await sign(challenge) }), "sessionToken")
}

const strange = (message: string) => failure("INVALID_ANSWER", message, undefined, 200)

const textIn = (answer: unknown, name: string): string => {
  const value = isObject(answer) ? answer[name] : undefined
  // It becomes a header.
  if (isText(value) && /^[\x21-\x7e]{1,1000}$/.test(value)) return value
  throw strange(`The server's answer has no ${name}`)
}
