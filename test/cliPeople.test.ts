import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import { Secrets } from "#services/Secrets.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { office, Test as Office } from "./cliOffice.ts"

const Test = UserSessions.layer.pipe(Layer.provide(Secrets.layer), Layer.provideMerge(Office))

/** Whether who has these logs in. */
const logsIn = Effect.fnUntraced(function* (email: string, password: string) {
  const opened = yield* Effect.exit((yield* UserSessions).open({ email, password }, "a test"))
  return opened._tag === "Success"
})
const password = "correct horse battery staple"
/** The words that make a user whose password is read. */
const creating = (email: string, tenant: string, role: string) =>
  ["user", "create", email, "--tenant", tenant, "--role", role, "--password-stdin"] as const

layer(Test, { excludeTestServices: true, timeout: "120 seconds" })("an operator", (it) => {
  it.effect("makes a user whose password is read and never shown, and who is listed", () =>
    Effect.gen(function* () {
      const { tell, tenant_id, type } = yield* office
      const words = creating("ada@acme.example", tenant_id, "member")
      const short = yield* tell("elevenchars\n", ...words)
      assert.deepStrictEqual([short.out, short.why], ["", "a password has 12 to 200 characters"])
      const { failed, out, why } = yield* tell(`${password}\nanother line\n`, ...words)
      assert.isFalse(failed, why)
      assert.match(out, /^user {6}usr_\w+\npassword {2}as given\n$/)
      assert.isTrue(yield* logsIn("ada@acme.example", password))
      const again = yield* tell(`${password}\n`, ...words)
      assert.deepStrictEqual([again.out, again.why], ["", "there is a user ada@acme.example already"])
      const listed = yield* type("user", "list", "--tenant", tenant_id)
      assert.match(listed.out, /^usr_\w+ {2}member {2}ada@acme\.example\n/)
    })
  )

  it.effect("gives a user another password, which is shown once and ends the user's sessions", () =>
    Effect.gen(function* () {
      const { tell, tenant_id, type } = yield* office
      const email = "bob@acme.example"
      yield* tell(`${password}\n`, ...creating(email, tenant_id, "viewer"))
      const sessions = yield* UserSessions
      const { refresh_token } = yield* sessions.open({ email, password }, "a test")
      const { out, why } = yield* type("user", "password", email)
      const [, another = ""] = /^password {2}(\w{24,})\n$/.exec(out) ?? []
      assert.isAtLeast(another.length, 24, why)
      assert.deepStrictEqual([yield* logsIn(email, password), yield* logsIn(email, another)], [false, true])
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sessions.refresh(refresh_token))), "the session went on")
      const unknown = yield* type("user", "password", "nobody@acme.example")
      assert.deepStrictEqual([unknown.out, unknown.why], ["", "there is no user nobody@acme.example"])
    })
  )

  it.effect("removes a user, who logs in no more, and never the last owner of a tenant", () =>
    Effect.gen(function* () {
      const { tell, tenant_id, type } = yield* office
      const email = "eve@acme.example"
      yield* tell(`${password}\n`, ...creating(email, tenant_id, "admin"))
      assert.isTrue(yield* logsIn(email, password))
      const { out } = yield* type("user", "remove", email)
      assert.match(out, /^usr_\w+ is removed\n$/)
      assert.isFalse(yield* logsIn(email, password))
      const refused = yield* type("user", "remove", "owner@turnpike.local")
      assert.deepStrictEqual(
        [refused.out, refused.why],
        ["", "this is the last owner of the tenant, who stays: make another one first"]
      )
    })
  )

  it.effect("makes a tenant, and an account within one, under the ids that are shown", () =>
    Effect.gen(function* () {
      const { tenant_id, type } = yield* office
      const sql = yield* SqlClient.SqlClient
      const { out } = yield* type("tenant", "create", "Globex")
      const [, tenant, account] = /^tenant {3}(ten_\w+)\naccount {2}(acc_\w+)\n$/.exec(out) ?? []
      const listed = yield* type("tenant", "list")
      assert.match(listed.out, new RegExp(`^${toTypeId("ten", tenant_id)}  .+\n${tenant}  Globex\n$`))
      const within = yield* type("account", "create", "Payroll", "--tenant", tenant ?? "")
      const accounts = yield* sql`SELECT type_id('acc', a.id) AS id FROM accounts a
        WHERE type_id('ten', a.tenant_id) = ${tenant} ORDER BY a.id`
      assert.deepStrictEqual(
        accounts.map(({ id }) => id),
        [account, within.out.trim()]
      )
    })
  )

  it.effect("is shown which promise is broken, and by what, by a command that fails", () =>
    Effect.gen(function* () {
      const { type } = yield* office
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE ledger_head SET event_seq = event_seq + 1`
      const { failed, out } = yield* Effect.ensuring(
        type("doctor"),
        Effect.orDie(sql`UPDATE ledger_head SET event_seq = event_seq - 1`)
      )
      assert.isTrue(failed)
      assert.match(out, /^BROKEN the event log is gapless and ends at its head \(\d+ ms\)\n {9}\{"event_seq":/m)
      assert.match(out, /\n1 of \d+ promises are broken\.\n$/)
    })
  )
})
