import { ConfigProvider, Effect, Layer } from "effect"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Node from "#layers/Node.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import type { TenantId } from "#domain/Ids.ts"
import type { Environment } from "#domain/Principal.ts"
import * as Http from "#http/Http.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { Tenants } from "#services/Tenants.ts"

/** Sockets and servers live in real time. */
export const options = { excludeTestServices: true, timeout: "60 seconds" } as const

/** The whole server of one environment, on a port and a database of its own. */
export const serverOf = (environment: Environment) =>
  Http.layer.pipe(
    Layer.provideMerge(Platform.layer),
    Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, Node.layer)),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          ...process.env,
          PORT: "0",
          TURNPIKE_ENVIRONMENT: environment,
          TURNPIKE_RATE_LIMIT: "off"
        })
      )
    )
  )

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed JSON, of whatever shape. */
  readonly body: ReturnType<typeof JSON.parse>
}

/** A caller with a key of these scopes. A body that is a string is sent as it is, anything else as JSON. */
export const callerOf = Effect.fnUntraced(function* (
  tenant: { readonly id: TenantId },
  scopes: ReadonlyArray<string> = ["*:*"]
) {
  const { publicUrl } = yield* Deployment
  const { key } = yield* (yield* Credentials).issue({
    tenant_id: tenant.id,
    kind: "api_key",
    name: "test",
    scopes
  })
  return (method: "GET" | "POST", path: string, body?: unknown, headers: Record<string, string> = {}) =>
    Effect.promise(async (): Promise<Answer> => {
      const response = await fetch(`${publicUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
      const text = await response.text()
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: text === "" ? undefined : JSON.parse(text)
      }
    })
})

/** A new tenant and a caller with all its rights. */
export const newcomer = Effect.gen(function* () {
  const tenant = yield* (yield* Tenants).create({ name: "a tenant" })
  const call = yield* callerOf(tenant)
  return { tenant, call }
})

/** A caller with an empty wallet. */
export const withWallet = Effect.gen(function* () {
  const { tenant, call } = yield* newcomer
  const { body } = yield* call("POST", "/v1/wallets", {})
  const id: string = body.id
  const fund = (request: unknown, headers?: Record<string, string>) =>
    call("POST", `/v1/wallets/${id}/fund`, request, headers)
  const entries = Effect.map(call("GET", `/v1/wallets/${id}/entries`), (answer) => answer.body.data)
  return { tenant, call, id, fund, entries }
})
