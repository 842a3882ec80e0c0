import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { UserId } from "#domain/Ids.ts"
import type { Principal, Role } from "#domain/Principal.ts"
import { Credentials } from "#services/Credentials.ts"
import { promises } from "#services/Doctor/Users.ts"
import { passwordLimits, verifyPassword } from "#services/Passwords.ts"
import { PortalTokens } from "#services/PortalTokens.ts"
import { Users } from "#services/Users.ts"
import { loggedIn, otherProcess, password, person, tag, Test } from "./UsersHarness.ts"

/** What each promise of the doctor finds broken. */
const findings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(promises(sql), ({ query }) => Effect.map(query, (rows) => rows.length))
})

layer(Test, { timeout: "60 seconds" })("Users", (it) => {
  it.effect("an address is one user's, in whatever case and whatever tenant, also when asked for at once", () =>
    Effect.gen(function* () {
      const { byEmail, create } = yield* Users
      const there = (yield* otherProcess).users
      const [mine, theirs] = [yield* person(), yield* person()]
      const again = { email: mine.email, password, role: "viewer" } as const
      assert.strictEqual(yield* tag(create("operator", theirs.tenant_id, again)), "EMAIL_TAKEN")
      const email = "at.once@acme.example"
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, (_, index) =>
          tag((index % 2 === 0 ? there : { create }).create("operator", theirs.tenant_id, { ...again, email }))
        ),
        { concurrency: 10 }
      )
      assert.strictEqual(answers.filter((answer) => answer === "accepted").length, 1)
      assert.strictEqual(Option.getOrThrow(yield* byEmail("AT.once@ACME.example")).tenant_id, theirs.tenant_id)
    })
  )

  it.effect("the last owner is neither removed nor made less", () =>
    Effect.gen(function* () {
      const { remove, update } = yield* Users
      const { tenant, tenant_id, user } = yield* person()
      const admin = yield* person("admin", tenant)
      assert.strictEqual(yield* tag(remove("operator", tenant_id, user.id)), "LAST_OWNER")
      assert.strictEqual(yield* tag(update("operator", tenant_id, user.id, { role: "admin" })), "LAST_OWNER")
      assert.strictEqual(yield* tag(update("operator", tenant_id, user.id, { password })), "accepted")
      yield* update("operator", tenant_id, admin.user.id, { role: "owner" })
      assert.strictEqual(yield* tag(remove("operator", tenant_id, user.id)), "accepted")
    })
  )

  it.effect("owners who remove or demote each other at once leave one of them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const here = yield* Users
      const there = (yield* otherProcess).users
      for (let round = 0; round < 5; round++) {
        const first = yield* loggedIn()
        const second = yield* loggedIn("owner", first.tenant)
        yield* Effect.all(
          [
            tag(here.remove(first.by, first.tenant_id, second.user.id)),
            tag(there.update(second.by, first.tenant_id, first.user.id, { role: "member" })),
            tag(there.remove("operator", first.tenant_id, first.user.id)),
            tag(here.update("operator", first.tenant_id, second.user.id, { role: "viewer" }))
          ],
          { concurrency: 4 }
        )
        const owners = yield* sql`SELECT id FROM users WHERE tenant_id = ${first.tenant_id} AND role = 'owner'`
        assert.strictEqual(owners.length, 1)
      }
      assert.deepStrictEqual(yield* findings, [0, 0, 0])
    })
  )

  it.effect("owners manage everybody, admins and keys everybody but owners, others nobody", () =>
    Effect.gen(function* () {
      const { create, remove, update } = yield* Users
      const { tenant, tenant_id, user: spare } = yield* person()
      const target = yield* person("member", tenant)
      const { key } = yield* (yield* Credentials).issue({ tenant_id, kind: "api_key", name: "k", scopes: ["*:*"] })
      const by: Record<Role | "key", Principal> = {
        owner: (yield* loggedIn("owner", tenant)).by,
        admin: (yield* loggedIn("admin", tenant)).by,
        member: (yield* loggedIn("member", tenant)).by,
        viewer: (yield* loggedIn("viewer", tenant)).by,
        key: yield* (yield* Credentials).authenticate(key)
      }
      let made = 0
      const can = (who: Principal) => ({
        make: (role: Role) => tag(create(who, tenant_id, { email: `made${made++}@acme.example`, password, role })),
        change: (id: UserId, role: Role) => tag(update(who, tenant_id, id, { role })),
        relock: (id: UserId) => tag(update(who, tenant_id, id, { password }))
      })
      for (const who of ["admin", "key"] as const) {
        const { change, make, relock } = can(by[who])
        assert.strictEqual(yield* make("owner"), "FORBIDDEN", who)
        assert.strictEqual(yield* make("admin"), "accepted", who)
        assert.strictEqual(yield* change(target.user.id, "owner"), "FORBIDDEN", who)
        assert.strictEqual(yield* change(target.user.id, "viewer"), "accepted", who)
        assert.strictEqual(yield* change(spare.id, "viewer"), "FORBIDDEN", who)
        assert.strictEqual(yield* relock(spare.id), "FORBIDDEN", who)
        assert.strictEqual(yield* tag(remove(by[who], tenant_id, spare.id)), "FORBIDDEN", who)
      }
      for (const who of ["member", "viewer"] as const) {
        const { change, make, relock } = can(by[who])
        assert.strictEqual(yield* make("viewer"), "FORBIDDEN", who)
        assert.strictEqual(yield* change(target.user.id, "member"), "FORBIDDEN", who)
        assert.strictEqual(yield* relock(target.user.id), "FORBIDDEN", who)
        assert.strictEqual(yield* tag(remove(by[who], tenant_id, target.user.id)), "FORBIDDEN", who)
      }
      const { change, make, relock } = can(by.owner)
      assert.strictEqual(yield* make("owner"), "accepted")
      assert.strictEqual(yield* change(target.user.id, "owner"), "accepted")
      assert.strictEqual(yield* relock(spare.id), "accepted")
      assert.strictEqual(yield* tag(remove(by.owner, tenant_id, spare.id)), "accepted")
    })
  )

  it.effect("a principal that is remembered has no more than its user has by now", () =>
    Effect.gen(function* () {
      const { create, update } = yield* Users
      const { tenant, tenant_id } = yield* person()
      const { by, user } = yield* loggedIn("owner", tenant)
      yield* update("operator", tenant_id, user.id, { role: "member" })
      const more = { email: "more@acme.example", password, role: "viewer" } as const
      assert.strictEqual(yield* tag(create(by, tenant_id, more)), "FORBIDDEN")
    })
  )

  it.effect("of changes of one password that were asked for at once, with the right one, one is made", () =>
    Effect.gen(function* () {
      const { by, user } = yield* loggedIn()
      const [here, there] = [yield* Users, (yield* otherProcess).users]
      const words = Array.from({ length: 6 }, (_, index) => `another horse ${index} and its battery`)
      const answers = yield* Effect.forEach(
        words,
        (word, index) =>
          tag((index % 2 === 0 ? here : there).changePassword(by, { current_password: password, password: word })),
        { concurrency: words.length }
      )
      assert.strictEqual(answers.filter((answer) => answer === "accepted").length, 1, String(answers))
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`SELECT password_hash FROM users WHERE id = ${user.id}`
      const made = words[answers.indexOf("accepted")] ?? ""
      assert.isTrue(yield* verifyPassword(made, String(row?.["password_hash"])))
    })
  )

  it.effect("another tenant's users are not there", () =>
    Effect.gen(function* () {
      const { list, remove, update } = yield* Users
      const [mine, theirs] = [yield* loggedIn(), yield* person()]
      assert.strictEqual(yield* tag(update(mine.by, mine.tenant_id, theirs.user.id, { password })), "NOT_FOUND")
      assert.strictEqual(yield* tag(remove(mine.by, mine.tenant_id, theirs.user.id)), "NOT_FOUND")
      const { data, total } = yield* list(mine.tenant_id, { page: 1, limit: 10 })
      assert.deepStrictEqual([data.map(({ id }) => id), total], [[mine.user.id], 1])
    })
  )

  it.effect("so many passwords are worked on at a time, and so many wait; the others are sent away", () =>
    Effect.gen(function* () {
      const { atOnce, waiting } = passwordLimits
      const all = Array.from({ length: atOnce + waiting + 10 }, () => Effect.exit(verifyPassword(password, "")))
      const exits = yield* Effect.all(all, { concurrency: all.length })
      assert.strictEqual(exits.filter(({ _tag }) => _tag === "Failure").length, 10)
      assert.isFalse(yield* verifyPassword(password, ""), "and there is room again")
    })
  )

  it.effect("the doctor finds nothing in a tenant whose operator made its first users no owners", () =>
    Effect.gen(function* () {
      yield* person("viewer")
      assert.deepStrictEqual(yield* findings, [0, 0, 0])
    })
  )

  it.effect("the doctor sees an address in two cases, an eternal session and a stranger's portal", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { tenant_id, user } = yield* loggedIn()
      const broken = <E>(fault: Effect.Effect<unknown, E>) =>
        Effect.gen(function* () {
          yield* fault
          const found = yield* findings
          return yield* Effect.fail(found)
        }).pipe(sql.withTransaction, Effect.flip)
      assert.deepStrictEqual(yield* findings, [0, 0, 0])
      const shouting = yield* broken(sql`UPDATE users SET email = upper(email) WHERE id = ${user.id}`)
      assert.deepStrictEqual(shouting, [1, 0, 0])
      const eternal = yield* broken(
        sql`UPDATE user_sessions SET expires_at = expires_at + interval '1 second' WHERE user_id = ${user.id}`
      )
      assert.deepStrictEqual(eternal, [0, 1, 0])
      const other = yield* loggedIn()
      const order = { customer_reference: other.by.account_id, scopes: ["usage:read"], expires_in: 60 } as const
      const { id } = yield* (yield* PortalTokens).create(other.by, order)
      const strange = yield* broken(sql`UPDATE credentials SET tenant_id = ${tenant_id} WHERE id = ${id}`)
      assert.deepStrictEqual(strange, [0, 0, 1])
    })
  )
})
