import { elements } from "./HeaderList.ts"
import { readsAsJwt } from "./UserSession.ts"

const credentialPrefixes = ["pk_test_", "pk_live_", "agent_", "sess_", "portal_", "psk_"]

/**
 * The value of `Authorization` without credentials of ours and payments by MPP, which an origin could cash. There is one credential in such
 * a field, but clients and servers of MPP write and read several, with commas between them.
 */
export const withoutOurCredentials = (authorization: string): string => {
  let isOurs = false
  const all = partsOf(authorization)
  const theirs = all.filter((part, at) => {
    if (at === 0 || !parameter.test(part)) isOurs = isOurCredential(part)
    return !isOurs
  })
  return theirs.length === all.length ? authorization : theirs.join(",")
}

/** Where a quote is open each reader takes the value apart in another way, so that every comma counts. */
const partsOf = (authorization: string): ReadonlyArray<string> => {
  if (!authorization.includes(",")) return [authorization]
  const found = [...authorization.matchAll(elements)]
  return found.some(([, open]) => open !== undefined) ? authorization.split(",") : found.map(([part]) => part)
}

/** It belongs to the credential before it. */
const parameter = /^\s*[^\s=]+\s*=/

const isOurCredential = (authorization: string): boolean => {
  const value = authorization.trimStart()
  const space = value.search(/[ \t]/)
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase()
  if (scheme === "payment") return true
  const credential = (space < 0 ? value : value.slice(space)).trim()
  if (readsAsJwt(credential)) return isOurAccessToken(credential)
  const lower = credential.toLowerCase()
  return credentialPrefixes.some((prefix) => lower.startsWith(prefix))
}

/** Origins have access tokens of their own; those of our users name a tenant of ours. */
const isOurAccessToken = (token: string): boolean =>
  /"ten":"ten_[0-9a-z]{26}"/.test(Buffer.from(token.split(".", 2)[1] ?? "", "base64url").toString("latin1"))
