import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { noRuntime } from "#layers/EmbeddedPostgres/NoRuntime.ts"

/** A directory that nobody but its owner may enter. */
const closed = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-runtime-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const refused = { ran: false, output: "Permission denied\n" }

describe("why no Postgres runs", () => {
  it.effect("is a directory that other users cannot enter, when root has binaries and no user namespace", () =>
    Effect.gen(function* () {
      const checkout = yield* closed
      const attempts = [{ binaries: join(checkout, "native/bin"), ...refused }]
      for (const version of ["", "18"]) {
        const { message, reason } = noRuntime({ dataDir: join(checkout, "postgres"), isRoot: true, version }, attempts)
        assert.strictEqual(reason, "NotRunnable")
        const [, named = "none"] = /other users cannot enter (.+), and there are no user namespaces/.exec(message) ?? []
        // It is the first on the way, and the temporary directory itself may be closed.
        assert.isTrue(checkout.startsWith(named), named)
        assert.include(message, "start it as an ordinary user, or set DATABASE_URL")
        assert.include(message, "native/bin: Permission denied")
        assert.notInclude(message, "optional dependencies")
      }
    })
  )

  /** Root of a namespace with nobody else in it, where there can be no further ones. */
  const asLonelyRoot = (...command: ReadonlyArray<string>) => {
    const alone = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    return spawnSync("unshare", ["--user", "--map-root-user", "sh", "-c", alone, "sh", ...command], {
      encoding: "utf8"
    })
  }
  it.effect.skipIf(asLonelyRoot("true").status !== 0)("is said to a root that cannot become anybody else", () =>
    Effect.gen(function* () {
      const owner = fileURLToPath(new URL("./EmbeddedPostgresOwner.ts", import.meta.url))
      const { stderr, stdout } = asLonelyRoot(process.execPath, owner, join(yield* closed, "postgres"))
      assert.include(stdout, '"reason":"NotRunnable"', stderr)
      assert.include(stdout, "Postgres does not run as root, other users cannot enter")
    })
  )

  it("is the binaries themselves, when everybody can reach them", () => {
    for (const isRoot of [true, false]) {
      const attempts = [{ binaries: "/usr/bin", ...refused }]
      const { message } = noRuntime({ dataDir: "/turnpike", isRoot, version: "" }, attempts)
      assert.include(message, "Postgres is there, but does not run here.")
    }
  })

  it("is that there are none, when none were tried", () => {
    const { message, reason } = noRuntime({ dataDir: "postgres", isRoot: true, version: "" }, [])
    assert.strictEqual(reason, "NoBinaries")
    assert.include(message, "Install the package's optional dependencies")
  })

  it("is the version of the database, when others run", () => {
    const attempts = [{ binaries: "bin", ran: true, output: "postgres (PostgreSQL) 18.4" }]
    const { message, reason } = noRuntime({ dataDir: "postgres", isRoot: false, version: "17" }, attempts)
    assert.strictEqual(reason, "Version")
    assert.include(message, "was made by Postgres 17")
  })
})
