import { unit } from "./Money.ts"

/** One thing that the scanner sells by the call. `price` is in micro-units of the dollar; `path` is where the 402 says it is sold. */
export interface Good {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly method: "GET" | "POST"
  readonly path: string
  readonly price: bigint
  readonly timeoutMs: number
  /** Which requests it pays for. */
  readonly covers: RegExp
}

const mills = (count: bigint) => (unit * count) / 1000n

/** What can be bought without a key. The prices are those that a new server begins with; its operator may change them. */
export const goods: ReadonlyArray<Good> = [
  {
    id: "00000000-0000-8000-8000-0000005ca001",
    name: "Merchant scan",
    description: "Scans a merchant's domain for readiness to be used by autonomous shopping agents.",
    method: "POST",
    path: "/v1/scanner/scan",
    price: mills(50n),
    timeoutMs: 30_000,
    covers: /^\/v1\/scanner\/scan$/
  },
  {
    id: "00000000-0000-8000-8000-0000005ca002",
    name: "Synthetic agent checkout",
    description: "Shops at a merchant's site as an agent would, up to the order, and says where it succeeds or fails.",
    method: "POST",
    path: "/v1/scanner/tests",
    price: mills(250n),
    timeoutMs: 120_000,
    covers: /^\/v1\/scanner\/tests$/
  },
  {
    id: "00000000-0000-8000-8000-0000005ca003",
    name: "Scanner reading",
    description: "Reads scans and tests of the corpus: by id, by domain, history, lists and statistics.",
    method: "GET",
    path: "/v1/scanner/scans",
    price: mills(5n),
    timeoutMs: 10_000,
    covers:
      /^\/v1\/scanner\/(?:scans(?:\/(?:stats|by-domain\/[^/]+(?:\/history)?))?|scan\/(?!batch$)[^/]+|tests\/[^/]+|test\/[^/]+)$/
  }
]

/** What a request without a key would buy; undefined when it is not for sale. */
export const goodFor = (method: string, path: string): Good | undefined =>
  goods.find((good) => method === good.method && good.covers.test(path))

/** What a call to this path would buy, with the one method that sells it. */
export const goodAt = (path: string): Good | undefined => goods.find((good) => good.covers.test(path))
