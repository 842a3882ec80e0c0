import { Effect, type Scope } from "effect"
import type { Principal } from "#domain/Principal.ts"
import { Credentials, type NewCredential } from "#services/Credentials.ts"
import { grant } from "../services/ScannerCreditsHarness.ts"
import type { Fixture } from "../shops/Fixture.ts"
import { callsWith } from "./Callers.ts"
import { listed, tenant } from "./GatewayHarness.ts"

/** The shop, which the server may look at from now on. */
export const visited = <A extends Fixture>(open: Effect.Effect<A, never, Scope.Scope>) =>
  Effect.tap(open, ({ domain }) => Effect.sync(() => listed.push(domain)))

/** Calls with a key of this kind that has these scopes. */
export const callerWith = Effect.fnUntraced(function* (
  { tenant_id }: Principal,
  kind: NewCredential["kind"],
  scopes: ReadonlyArray<string>
) {
  const { key } = yield* (yield* Credentials).issue({ tenant_id, kind, name: "key", scopes })
  return callsWith(key)
})

/** A tenant with so many credits, and how its scanner key calls, which may do everything. */
export const customer = Effect.fnUntraced(function* (credits = 100) {
  const { principal } = yield* tenant
  if (credits > 0) yield* grant(principal.tenant_id, credits)
  return { principal, call: yield* callerWith(principal, "scanner_key", ["scan", "batch", "read", "tests"]) }
})

/** Where the records of a domain are. */
export const scansOf = (domain: string) => `/v1/scanner/scans/by-domain/${encodeURIComponent(domain)}`
export const testsOf = (domain: string) => `/v1/scanner/tests/${encodeURIComponent(domain)}`
