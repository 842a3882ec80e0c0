// What a stranger's 402 asks for, read as a payer reads it: version 2 in a header, version 1 in the body.
import { type Problem, Problems, within } from "./Problems.ts"
import { asFields, type Fields, readHeader } from "./X402Payload.ts"

export interface X402Offered {
  readonly version: 1 | 2
  readonly networks: ReadonlyArray<string>
  readonly schemes: ReadonlyArray<string>
  readonly problems: ReadonlyArray<Problem>
}

const digits = /^\d{1,78}$/

const offerOf = (value: unknown, version: 1 | 2, path: string, problems: Problems): Fields | undefined => {
  const offer = asFields(value)
  if (offer === undefined) return problems.fatal(path, "must be an object")
  for (const name of ["scheme", "network", "asset", "payTo"]) problems.text(offer, path, name)
  const amount = version === 1 ? "maxAmountRequired" : "amount"
  const text = problems.text(offer, path, amount)
  if (text !== undefined && !digits.test(text)) problems.fatal(within(path, amount), "must be a whole number as text")
  return offer
}

const readDemand = (demand: Fields, version: 1 | 2): X402Offered => {
  const problems = new Problems()
  const accepts = problems.list(demand, "", "accepts")
  if (accepts?.length === 0) problems.fatal("accepts", "must offer at least one way to pay")
  const offers = (accepts ?? [])
    .map((value, at) => offerOf(value, version, within("accepts", at), problems))
    .filter((offer) => offer !== undefined)
  const texts = (name: string) =>
    [...new Set(offers.map((offer) => offer[name]))].filter((text) => typeof text === "string")
  return { version, networks: texts("network"), schemes: texts("scheme"), problems: problems.found }
}

/** The demand in a 402: its `PAYMENT-REQUIRED` header, else its body. Undefined when it has none of x402. */
export const readX402Demand = (header: string | undefined, body: unknown): X402Offered | undefined => {
  const required = header === undefined ? undefined : readHeader(header)
  if (required?.["x402Version"] === 2) return readDemand(required, 2)
  const demand = asFields(body)
  if (demand?.["x402Version"] === 1) return readDemand(demand, 1)
  if (demand?.["x402Version"] === 2) return readDemand(demand, 2)
  return undefined
}

/** What `/.well-known/x402` lists, in any of the shapes in use: the resources as it writes them. Undefined when it is no such list. */
export const readX402Listing = (value: unknown): ReadonlyArray<string> | undefined => {
  const document = asFields(value)
  if (document === undefined) return undefined
  const list = document["resources"] ?? document["items"] ?? document["endpoints"]
  if (!Array.isArray(list)) return undefined
  return list.slice(0, 100).flatMap((entry) => {
    const resource = asFields(entry)?.["resource"] ?? asFields(entry)?.["url"] ?? entry
    return typeof resource === "string" ? [resource.slice(0, 2000)] : []
  })
}

/** The first resource that can be asked for without a body: `GET /x`, `/x` or a URL. */
export const askableResource = (resources: ReadonlyArray<string>): string | undefined =>
  resources
    .map((resource) => /^(?:GET\s+)?(\/\S*|https?:\/\/\S+)$/i.exec(resource.trim())?.[1])
    .find((address) => address !== undefined)
