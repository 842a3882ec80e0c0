import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "#api/Api.ts"
import { type Asks, asksOf } from "#api/Credentials.ts"
import { scopeBeyond } from "#domain/Credential.ts"
import { newUuid } from "#services/NewId.ts"
import { type Caller, callersOf, callsWith } from "./Callers.ts"
import { documents } from "./CredentialsTable.ts"
import { operationOf } from "./Description.ts"
import { type Answer, server, tenant } from "./GatewayHarness.ts"

const guarded = asksOf(Api).filter(({ kinds }) => kinds.length > 0)

/** What the contract says about this caller; undefined when it may go on. */
const expected = ({ kinds, scannerScope, scope }: Asks, caller: Caller) => {
  if (!kinds.includes(caller.kind)) return "FORBIDDEN"
  if (caller.kind === "scanner_key") {
    return scannerScope === undefined || caller.scopes.includes(scannerScope) ? undefined : "INSUFFICIENT_SCOPE"
  }
  return scope !== undefined && scopeBeyond(caller.scopes, [scope]) !== undefined ? "INSUFFICIENT_SCOPE" : undefined
}

/** The refusal that an answer is, if it is one of the credential. */
const refusalOf = ({ json, status }: Answer): string | undefined => {
  if (status === 401) return json.code
  return status === 403 && (json.code === "INSUFFICIENT_SCOPE" || /^this operation takes/.test(json.details?.reason))
    ? json.code
    : undefined
}

layer(server, { timeout: "60 seconds", excludeTestServices: true })("every operation", (it) => {
  it.effect("takes the kinds of credentials and the scopes that it says, and no others", () =>
    Effect.gen(function* () {
      const { key, principal } = yield* tenant
      for (const caller of yield* callersOf(principal, key)) {
        const call = callsWith(caller.token)
        for (const asks of guarded) {
          const path = asks.path.replace(/\{\w+\}/g, newUuid)
          const answer = yield* call(
            asks.method,
            path,
            asks.method === "POST" || asks.method === "PATCH" ? {} : undefined
          )
          assert.strictEqual(
            refusalOf(answer),
            expected(asks, caller),
            `${asks.operation} by ${caller.name}: ${answer.body}`
          )
          if (expected(asks, caller) !== "FORBIDDEN") continue
          for (const kind of asks.kinds) assert.include(answer.json.details.reason, kind)
        }
      }
    })
  )

  it.effect("tells API keys and users alone which agents are connected", () =>
    Effect.gen(function* () {
      const { key, principal } = yield* tenant
      for (const { kind, name, token } of yield* callersOf(principal, key)) {
        if (kind === "scanner_key") continue
        const call = callsWith(token)
        assert.strictEqual((yield* call("GET", "/v1/agents")).status, 200, name)
        for (const connected of ["true", "false"]) {
          const { json, status } = yield* call("GET", `/v1/agents?connected=${connected}`)
          const mayAsk = kind === "api_key" || kind === "jwt"
          assert.deepStrictEqual([status, json.code], mayAsk ? [200, undefined] : [403, "FORBIDDEN"], name)
          if (!mayAsk) assert.match(json.details.reason, /API keys and users/)
        }
      }
    })
  )

  it.effect("says so in its description", () =>
    Effect.sync(() => {
      for (const { kinds, operation, scope } of asksOf(Api)) {
        const { asked, description, guarded, isOpen } = operationOf(operation)
        // Logging out takes the cookie or the access token.
        assert.strictEqual(guarded || isOpen, kinds.length > 0 || operation === "sessions.end", operation)
        assert.deepStrictEqual(
          asked,
          kinds.length === 0 ? {} : { kinds, ...(scope !== undefined && { scope }) },
          operation
        )
        assert.match(
          description,
          kinds.length === 0 ? /No credential is needed\.$/ : /\n\nCredentials: .*\.$/,
          operation
        )
      }
    })
  )

  it.effect("is in docs/credentials.md: `npm run generate:credentials` writes it", () =>
    Effect.sync(() => {
      const { present, wanted } = documents()
      assert.strictEqual(present, wanted)
    })
  )
})
