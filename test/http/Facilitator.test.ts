import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { balance, send, server, tenant } from "./GatewayHarness.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask } from "./PlatformHarness.ts"
import { callerOf, options, serverOf } from "./WalletsServer.ts"
import { authorize, signer } from "./X402Harness.ts"

const requirementsOf = (payTo: string) => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" }
})
const bodyOf = (requirements: object, payload: object) => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, resource: { url: "https://shop.example/a" }, accepted: requirements, payload },
  paymentRequirements: requirements
})
const nothing = bodyOf(requirementsOf(privateKeyToAccount(generatePrivateKey()).address), { signature: "0x" })

const facilitator = "/v1/x402/facilitator"
const post = (operation: string, body: object, headers: Record<string, string> = {}) =>
  send(`${facilitator}/${operation}`, { method: "POST", body, headers })

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the facilitator in the sandbox", (it) => {
  it.effect("verifies and settles for whoever asks, and moves the money", () =>
    Effect.gen(function* () {
      const buyer = yield* signer(50_000n)
      const { principal } = yield* tenant
      const till = yield* (yield* Wallets).create(principal, { network: "base-sepolia" })
      const requirements = requirementsOf(till.address)
      const payload = yield* authorize(buyer.account, { payTo: till.address as `0x${string}`, amount: "10000" })
      const verified = yield* post("verify", bodyOf(requirements, payload))
      assert.deepStrictEqual(
        [verified.status, verified.json],
        [200, { isValid: true, payer: buyer.account.address.toLowerCase() }]
      )
      const settled = yield* post("settle", bodyOf(requirements, payload))
      assert.strictEqual(settled.status, 200)
      assert.isTrue(settled.json.success, settled.body)
      const again = yield* post("settle", bodyOf(requirements, payload))
      assert.deepStrictEqual([again.status, again.json.success], [200, false])
      assert.strictEqual(again.json.transaction, settled.json.transaction)
      assert.deepStrictEqual(yield* balance(till.id), { posted: 10_000n, held: 0n })
      assert.deepStrictEqual(yield* balance(buyer.purse), { posted: 40_000n, held: 0n })
    })
  )

  it.effect("answers 200 when the answer is no, and 400 when it cannot read the question", () =>
    Effect.gen(function* () {
      const verified = yield* post("verify", nothing)
      assert.deepStrictEqual(
        [verified.status, verified.json],
        [200, { isValid: false, invalidReason: "invalid_payload" }]
      )
      const settled = yield* post("settle", nothing)
      assert.deepStrictEqual(
        [settled.status, settled.json],
        [200, { success: false, errorReason: "invalid_payload", transaction: "", network: "eip155:84532" }]
      )
      for (const body of [{}, { x402Version: 2, paymentPayload: [], paymentRequirements: {} }]) {
        const refused = yield* post("verify", body)
        assert.deepStrictEqual([refused.status, refused.json.code], [400, "INVALID_REQUEST"])
      }
    })
  )

  it.effect(
    "takes the version from the payload where the seller's middleware does not repeat it, and none that differs",
    () =>
      Effect.gen(function* () {
        const buyer = yield* signer(50_000n)
        const { principal } = yield* tenant
        const till = yield* (yield* Wallets).create(principal, { network: "base-sepolia" })
        const payload = yield* authorize(buyer.account, { payTo: till.address as `0x${string}`, amount: "10000" })
        const { x402Version: _, ...body } = bodyOf(requirementsOf(till.address), payload)
        assert.isTrue((yield* post("verify", body)).json.isValid)
        assert.strictEqual(
          (yield* post("verify", { ...body, x402Version: 1 })).json.invalidReason,
          "invalid_x402_version"
        )
        assert.isTrue((yield* post("settle", body)).json.success)
        assert.deepStrictEqual(yield* balance(till.id), { posted: 10_000n, held: 0n })
      })
  )

  it.effect("takes a credential that is shown for what it is", () =>
    Effect.gen(function* () {
      const { key } = yield* tenant
      const with_ = (authorization: string) => post("verify", nothing, { authorization })
      assert.strictEqual((yield* with_(`Bearer ${key}`)).status, 200)
      const unknown = yield* with_(`Bearer pk_test_${"x".repeat(32)}`)
      assert.deepStrictEqual([unknown.status, unknown.json.code], [401, "INVALID_API_KEY"])
      const odd = yield* with_("Basic x")
      assert.deepStrictEqual([odd.status, odd.json.code], [401, "MALFORMED_AUTH_HEADER"])
    })
  )

  it.effect("says what it settles", () =>
    Effect.gen(function* () {
      const { json, status } = yield* send(`${facilitator}/supported`)
      assert.strictEqual(status, 200)
      assert.includeDeepMembers(json.kinds, [{ x402Version: 2, scheme: "exact", network: "eip155:84532" }])
    })
  )
})

layer(serverOf("live"), options)("the facilitator of a live server", (it) => {
  it.effect("asks for a credential with the scope of the operation, and for none to say what it settles", () =>
    Effect.gen(function* () {
      const { id } = yield* (yield* Tenants).create({ name: "a tenant" })
      const reader = yield* callerOf({ id }, ["x402:read"])
      const writer = yield* callerOf({ id }, ["x402:write"])
      const stranger = yield* callerOf({ id }, ["wallets:*"])
      const of = (answer: { readonly status: number; readonly body: { readonly code?: string } }) => [
        answer.status,
        answer.body.code
      ]
      const missing = yield* post("verify", nothing)
      assert.deepStrictEqual([missing.status, missing.json.code], [401, "MISSING_AUTH_HEADER"])
      const scope = [403, "INSUFFICIENT_SCOPE"]
      assert.deepStrictEqual(of(yield* stranger("POST", `${facilitator}/verify`, nothing)), scope)
      assert.deepStrictEqual(of(yield* reader("POST", `${facilitator}/verify`, nothing)), [200, undefined])
      assert.deepStrictEqual(of(yield* reader("POST", `${facilitator}/settle`, nothing)), scope)
      assert.deepStrictEqual(of(yield* writer("POST", `${facilitator}/settle`, nothing)), [200, undefined])
      assert.strictEqual((yield* send(`${facilitator}/supported`)).status, 200)
    })
  )
})

layer(Harness.layer({ TURNPIKE_RATE_LIMIT: "2" }), { excludeTestServices: true, timeout: "60 seconds" })(
  "the facilitator and its callers",
  (it) => {
    it.effect("are counted by credential, and without one by address", () =>
      Effect.gen(function* () {
        const { base, key } = yield* Harness.entrance
        const verify = (headers: Record<string, string> = {}) =>
          Effect.map(
            ask(`${base}${facilitator}/verify`, {
              method: "POST",
              headers: { "content-type": "application/json", ...headers },
              body: JSON.stringify(nothing)
            }),
            ({ status }) => status
          )
        const strangers = [yield* verify(), yield* verify(), yield* verify()]
        assert.deepStrictEqual(strangers, [200, 200, 429])
        const known = Harness.bearer(key)
        assert.deepStrictEqual([yield* verify(known), yield* verify(known), yield* verify(known)], [200, 200, 429])
      })
    )
  }
)
