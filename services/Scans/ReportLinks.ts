import { createHmac, timingSafeEqual } from "node:crypto"
import { Effect } from "effect"
import { Deployment } from "../Deployment.ts"
import { Secrets } from "../Secrets.ts"

/** What a report is about. */
export type Reported = "scan" | "test"

/** Addresses of reports, which open them for whoever has the address and for nobody else. */
export const make = Effect.gen(function* () {
  const { scannerUrl } = yield* Deployment
  const key = yield* (yield* Secrets).secret("scanner-reports")

  const signature = (kind: Reported, id: string) =>
    createHmac("sha256", key).update(`${kind}:${id.toLowerCase()}`).digest("base64url")
  return {
    url: (kind: Reported, id: string): string =>
      `${scannerUrl}/v1/scanner/${kind}/${id}/report?signature=${signature(kind, id)}`,
    /** Whether this is the signature of the report's address. */
    verify: (kind: Reported, id: string, given: string): boolean => {
      const [expected, actual] = [Buffer.from(signature(kind, id)), Buffer.from(given)]
      return expected.length === actual.length && timingSafeEqual(expected, actual)
    }
  }
})
export type ReportLinks = Effect.Success<typeof make>
