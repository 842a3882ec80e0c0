import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newUuid } from "#services/NewId.ts"
import { toTypeId } from "#domain/Ids.ts"
import { proofOf, signed } from "../services/AgentsHarness.ts"
import { agentOf, callsWith, portalOf } from "./Callers.ts"
import { type Answer, send, server, tenant } from "./GatewayHarness.ts"

const codeOf = ({ json, status }: Answer) => [status, json?.code]
const post = (path: string, body: object) => send(path, { method: "POST", body })

/** A tenant, how it calls, and an agent that it made over HTTP. */
const party = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  const call = callsWith(key)
  const made = yield* call("POST", "/v1/agents", { name: "Buyer", generateKeypair: true })
  const { authKey, credentials, data } = made.json
  const id: string = data.id
  const seed: string = authKey.privateKey
  const token: string = credentials.token
  const login = Effect.gen(function* () {
    const { challenge } = (yield* send(`/v1/agents/${id}/challenge`, { method: "POST" })).json
    return yield* post(`/v1/agents/${id}/authenticate`, { challenge, signature: signed(seed, challenge) })
  })
  return { principal, call, made, id, seed, token, publicKey: authKey.publicKey, login, itself: callsWith(token) }
})

const key32 = (byte: number) => Buffer.alloc(32, byte).toString("base64")

layer(server, { timeout: "60 seconds", excludeTestServices: true })("agents over HTTP", (it) => {
  it.effect("create answers the record, the token and the key; get and list the record alone", () =>
    Effect.gen(function* () {
      const { call, made, principal } = yield* party
      const { authKey, credentials, data } = made.json
      assert.strictEqual(made.status, 201)
      const account = toTypeId("acc", principal.account_id)
      assert.deepInclude(data, { parent_account_id: account, accountId: account, status: "active", connected: false })
      assert.match(data.id, /^agt_/)
      assert.match(data.wallet_id, /^wal_/)
      assert.match(credentials.token, /^agent_test_[0-9A-Za-z]{32}$/)
      assert.match(authKey.keyId, /^auth_/)
      assert.deepStrictEqual([authKey.algorithm, authKey.publicKey], ["ed25519", data.public_key])
      assert.deepStrictEqual((yield* call("GET", `/v1/agents/${data.id}`)).json, { data })
      assert.deepStrictEqual((yield* call("GET", "/v1/agents")).json, {
        data: [data],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      })
    })
  )

  it.effect("create takes both spellings of a field, and not both at once", () =>
    Effect.gen(function* () {
      const { call, principal, publicKey } = yield* party
      const account = principal.account_id
      for (const fields of [
        { accountId: account, publicKey, walletNetwork: "base-sepolia" },
        { parent_account_id: toTypeId("acc", account), public_key: publicKey, wallet_network: "base-sepolia" }
      ]) {
        const { json, status } = yield* call("POST", "/v1/agents", { name: "n", ...fields })
        assert.deepStrictEqual([status, json.data.public_key, json.authKey.privateKey], [201, publicKey, undefined])
        const wallet = (yield* call("GET", `/v1/wallets/${json.data.wallet_id}`)).json
        assert.strictEqual(wallet.network, "base-sepolia")
      }
      assert.strictEqual((yield* call("POST", "/v1/agents", { name: "n", generate_keypair: true })).status, 201)
      assert.isUndefined((yield* call("POST", "/v1/agents", { name: "n", generateKeypair: false })).json.authKey)
      for (const [fields, path] of [
        [{ accountId: account, parent_account_id: account }, "parent_account_id"],
        [{ generateKeypair: true, generate_keypair: true }, "generate_keypair"],
        [{ publicKey, public_key: publicKey }, "public_key"],
        [{ generateKeypair: true, publicKey }, "publicKey"]
      ] as const) {
        const refused = yield* call("POST", "/v1/agents", { name: "n", ...fields })
        assert.deepStrictEqual(codeOf(refused), [400, "INVALID_REQUEST"])
        assert.strictEqual(refused.json.details.errors[0].path, path)
      }
    })
  )

  it.effect("create refuses what no agent can be", () =>
    Effect.gen(function* () {
      const { call } = yield* party
      for (const [body, status, code] of [
        [{}, 400, "INVALID_REQUEST"],
        [{ name: " " }, 400, "INVALID_REQUEST"],
        [{ name: "n".repeat(256) }, 400, "INVALID_REQUEST"],
        [{ name: "n", publicKey: "x" }, 400, "INVALID_REQUEST"],
        [{ name: "n", publicKey: key32(0) }, 400, "INVALID_REQUEST"],
        [{ name: "n", publicKey: key32(255) }, 400, "INVALID_REQUEST"],
        [{ name: "n", skills: ["a", "a"] }, 400, "INVALID_REQUEST"],
        [{ name: "n", skills: Array.from({ length: 101 }, String) }, 400, "INVALID_REQUEST"],
        [{ name: "n", status: "suspended" }, 400, "INVALID_REQUEST"],
        [{ name: "n", accountId: newUuid() }, 404, "NOT_FOUND"],
        [{ name: "n", walletNetwork: "base-mainnet" }, 422, "NETWORK_NOT_AVAILABLE"],
        [{ name: "n", walletAddress: "nonsense" }, 422, "INVALID_ADDRESS"]
      ] as const) {
        assert.deepStrictEqual(codeOf(yield* call("POST", "/v1/agents", body)), [status, code], JSON.stringify(body))
      }
    })
  )

  it.effect("an agent sees itself and its sessions, and changes nothing of itself", () =>
    Effect.gen(function* () {
      const { call, id, itself, login, made } = yield* party
      const other = (yield* call("POST", "/v1/agents", { name: "other" })).json.data.id
      const { sessionId, sessionToken } = (yield* login).json
      for (const own of [itself, callsWith(sessionToken)]) {
        assert.deepStrictEqual((yield* own("GET", `/v1/agents/${id}`)).json.data, made.json.data)
        assert.deepStrictEqual((yield* own("GET", "/v1/agents")).json.data, [made.json.data])
        assert.deepStrictEqual(codeOf(yield* own("GET", `/v1/agents/${other}`)), [404, "NOT_FOUND"])
        assert.deepStrictEqual(codeOf(yield* own("GET", `/v1/agents/${other}/sessions`)), [404, "NOT_FOUND"])
        const { data } = (yield* own("GET", `/v1/agents/${id}/sessions`)).json
        assert.deepStrictEqual([data.length, data[0].id, data[0].agent_id], [1, sessionId, id])
        for (const [method, path, body] of [
          ["POST", "", { name: "n" }],
          ["PATCH", `/${id}`, { name: "n" }],
          ["DELETE", `/${id}`, undefined],
          ["POST", `/${id}/suspend`, {}],
          ["POST", `/${id}/activate`, undefined],
          ["POST", `/${id}/rotate-token`, undefined],
          ["POST", `/${id}/auth-keys`, {}],
          ["DELETE", `/${id}/auth-keys`, undefined]
        ] as const) {
          assert.deepStrictEqual(codeOf(yield* own(method, `/v1/agents${path}`, body)), [403, "FORBIDDEN"], path)
        }
      }
      const gone = yield* itself("DELETE", `/v1/agents/${id}/sessions/${sessionId}`)
      assert.deepStrictEqual([gone.status, gone.body], [204, ""])
      const again = yield* itself("DELETE", `/v1/agents/${id}/sessions/${sessionId}`)
      assert.deepStrictEqual(codeOf(again), [404, "NOT_FOUND"])
      const dead = yield* callsWith(sessionToken)("GET", `/v1/agents/${id}`)
      assert.deepStrictEqual(codeOf(dead), [401, "INVALID_SESSION_TOKEN"])
    })
  )

  it.effect("a portal token sees the agents of its customer, if it has the scope, and nothing of theirs", () =>
    Effect.gen(function* () {
      const { id, principal } = yield* party
      const portal = yield* portalOf(principal)
      const theirs = yield* agentOf(principal, 0n, portal.account_id)
      const shown = toTypeId("agt", theirs.id)
      const { data, pagination } = (yield* portal.call("GET", "/v1/agents")).json
      assert.deepStrictEqual([data.map((one: { id: string }) => one.id), pagination.total], [[shown], 1])
      assert.strictEqual((yield* portal.call("GET", `/v1/agents/${shown}`)).status, 200)
      assert.deepStrictEqual(codeOf(yield* portal.call("GET", `/v1/agents/${id}`)), [404, "NOT_FOUND"])
      assert.deepStrictEqual(codeOf(yield* portal.call("GET", `/v1/agents/${shown}/sessions`)), [403, "FORBIDDEN"])
      const narrow = yield* portalOf(principal, ["transfers:read"])
      assert.deepStrictEqual(codeOf(yield* narrow.call("GET", "/v1/agents")), [403, "INSUFFICIENT_SCOPE"])
    })
  )

  it.effect("update, suspend, activate and remove answer the record, or that there is none", () =>
    Effect.gen(function* () {
      const { call, id, itself, login, made } = yield* party
      const path = `/v1/agents/${id}`
      const changed = yield* call("PATCH", path, { name: "N", description: "d", skills: ["a"], metadata: { a: [1] } })
      assert.deepInclude(changed.json.data, { name: "N", description: "d", skills: ["a"], metadata: { a: [1] } })
      assert.deepStrictEqual(codeOf(yield* call("PATCH", path, { status: "active" })), [400, "INVALID_REQUEST"])
      const suspended = yield* call("POST", `${path}/suspend`, { reason: "r" })
      assert.deepStrictEqual([suspended.status, suspended.json.data.status], [200, "suspended"])
      assert.deepStrictEqual(codeOf(yield* itself("GET", path)), [403, "AGENT_SUSPENDED"])
      assert.deepStrictEqual(codeOf(yield* login), [403, "AGENT_SUSPENDED"])
      assert.strictEqual((yield* call("GET", "/v1/agents?status=suspended")).json.pagination.total, 1)
      const active = yield* call("POST", `${path}/activate`)
      assert.deepStrictEqual([active.status, active.json.data.suspended_reason], [200, null])
      assert.strictEqual((yield* itself("GET", path)).status, 200)
      const gone = yield* call("DELETE", path)
      assert.deepStrictEqual([gone.status, gone.body], [204, ""])
      for (const [method, what, body] of [
        ["GET", ""],
        ["PATCH", "", {}],
        ["DELETE", ""],
        ["POST", "/suspend", {}],
        ["POST", "/activate"],
        ["POST", "/rotate-token"],
        ["POST", "/auth-keys", {}],
        ["DELETE", "/auth-keys"],
        ["GET", "/sessions"]
      ] as const) {
        assert.deepStrictEqual(codeOf(yield* call(method, path + what, body)), [404, "NOT_FOUND"], method + what)
      }
      assert.deepStrictEqual(codeOf(yield* itself("GET", path)), [401, "INVALID_AGENT_TOKEN"])
      assert.strictEqual((yield* call("GET", `/v1/wallets/${made.json.data.wallet_id}`)).json.status, "active")
    })
  )

  it.effect("a token is replaced, and the old one is none any more", () =>
    Effect.gen(function* () {
      const { call, id, itself, made } = yield* party
      const rotated = yield* call("POST", `/v1/agents/${id}/rotate-token`)
      assert.deepStrictEqual([rotated.status, rotated.json.data], [200, made.json.data])
      assert.deepStrictEqual(codeOf(yield* itself("GET", "/v1/context")), [401, "INVALID_AGENT_TOKEN"])
      const next = callsWith(rotated.json.credentials.token)
      assert.deepInclude((yield* next("GET", "/v1/context")).json, { actor_type: "agent", actor_id: id })
    })
  )

  it.effect("a challenge and its signature open a session, and nothing else does", () =>
    Effect.gen(function* () {
      const { call, id, login, seed } = yield* party
      const path = `/v1/agents/${id}`
      const asked = yield* send(`${path}/challenge`, { method: "POST" })
      assert.deepStrictEqual([asked.status, asked.json.expiresIn], [200, 60])
      const { challenge } = asked.json
      const signature = signed(seed, challenge)
      for (const [at, body, status, code] of [
        [path, { challenge, signature: signed(key32(3), challenge) }, 401, "INVALID_SIGNATURE"],
        [path, { challenge: "challenge_x", signature }, 401, "INVALID_SIGNATURE"],
        [`/v1/agents/${newUuid()}`, { challenge, signature }, 401, "INVALID_SIGNATURE"],
        [path, { challenge, signature: "x" }, 400, "INVALID_REQUEST"],
        [path, { challenge }, 400, "INVALID_REQUEST"],
        ["/v1/agents/nonsense", { challenge, signature }, 404, "NOT_FOUND"]
      ] as const) {
        assert.deepStrictEqual(codeOf(yield* post(`${at}/authenticate`, body)), [status, code])
      }
      const opened = yield* post(`${path}/authenticate`, { challenge, signature })
      assert.deepStrictEqual([opened.status, opened.json.expiresIn], [200, 3600])
      assert.deepStrictEqual(codeOf(yield* post(`${path}/authenticate`, { challenge, signature })), [
        401,
        "INVALID_SIGNATURE"
      ])
      const context = (yield* callsWith(opened.json.sessionToken)("GET", "/v1/context")).json
      assert.deepInclude(context, { actor_type: "agent", actor_id: id })
      yield* login
      const { data } = (yield* call("GET", `${path}/sessions?limit=1`)).json
      assert.deepStrictEqual([data.length, data[0].id === opened.json.sessionId], [1, false])
    })
  )

  it.effect("a key is given, replaced by proof, and revoked", () =>
    Effect.gen(function* () {
      const { call, id, login, publicKey, seed } = yield* party
      const path = `/v1/agents/${id}/auth-keys`
      const proof = signed(seed, `rotate:${id}`)
      for (const [body, status, code] of [
        [{ proof: signed(key32(3), `rotate:${id}`) }, 401, "INVALID_SIGNATURE"],
        [{ proof, publicKey }, 409, "AUTH_KEY_USED"],
        [{ proof, publicKey: key32(0) }, 400, "INVALID_REQUEST"],
        [{ proof, publicKey, public_key: publicKey }, 400, "INVALID_REQUEST"],
        [{ proof: "x" }, 400, "INVALID_REQUEST"],
        [{}, 400, "INVALID_REQUEST"]
      ] as const) {
        assert.deepStrictEqual(codeOf(yield* post(`${path}/rotate`, body)), [status, code], JSON.stringify(body))
      }
      const session = callsWith((yield* login).json.sessionToken)
      const rotated = yield* post(`${path}/rotate`, { proof })
      assert.deepStrictEqual([rotated.status, rotated.json.algorithm], [200, "ed25519"])
      assert.deepStrictEqual(codeOf(yield* session("GET", "/v1/context")), [401, "INVALID_SESSION_TOKEN"])
      assert.deepStrictEqual(codeOf(yield* post(`${path}/rotate`, { proof })), [401, "INVALID_SIGNATURE"])
      assert.deepStrictEqual(codeOf(yield* login), [401, "INVALID_SIGNATURE"])
      const uuid = (yield* call("GET", `/v1/agents/${id}`)).json.data.public_key
      assert.strictEqual(uuid, rotated.json.publicKey)
      const given = yield* call("POST", path, {})
      assert.strictEqual(given.status, 201)
      assert.deepStrictEqual(codeOf(yield* call("POST", path, { publicKey })), [409, "AUTH_KEY_USED"])
      assert.deepStrictEqual(codeOf(yield* call("POST", path, { publicKey: "x" })), [400, "INVALID_REQUEST"])
      assert.strictEqual((yield* call("DELETE", path)).status, 204)
      assert.deepStrictEqual(codeOf(yield* call("DELETE", path)), [404, "NOT_FOUND"])
      assert.isNull((yield* call("GET", `/v1/agents/${id}`)).json.data.public_key)
    })
  )

  it.effect("a body in which nothing has to be may be left out", () =>
    Effect.gen(function* () {
      const { call, id } = yield* party
      assert.strictEqual((yield* call("POST", `/v1/agents/${id}/auth-keys`)).status, 201)
      assert.strictEqual((yield* call("POST", `/v1/agents/${id}/suspend`)).json.data.status, "suspended")
      assert.strictEqual((yield* call("POST", `/v1/agents/${id}/suspend`, [])).status, 400)
    })
  )

  it.effect("every operation takes the id as a uuid too", () =>
    Effect.gen(function* () {
      const { principal } = yield* party
      const { call, id } = yield* agentOf(principal)
      assert.strictEqual((yield* call("GET", `/v1/agents/${id}`)).json.data.id, toTypeId("agt", id))
      assert.strictEqual((yield* call("GET", `/v1/agents/${id.toUpperCase()}`)).status, 200)
      assert.strictEqual((yield* send(`/v1/agents/${id}/challenge`, { method: "POST" })).status, 200)
      const proof = proofOf(id, key32(1))
      assert.strictEqual((yield* post(`/v1/agents/${id}/auth-keys/rotate`, { proof })).status, 401)
    })
  )
})
