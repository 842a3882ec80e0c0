import { spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "..")
const checkouts: Array<string> = []
afterAll(() => {
  for (const checkout of checkouts) rmSync(checkout, { recursive: true, force: true })
})

const ours = `node-linux-${process.arch}/bin/node`

/** A checkout that needs Node `needs`, in which a Node with these contents is installed and linked, as npm leaves it. */
const checkout = (needs: string, installed?: string) => {
  const directory = mkdtempSync(join(tmpdir(), "turnpike-install-"))
  checkouts.push(directory)
  cpSync(join(root, "scripts"), join(directory, "scripts"), { recursive: true })
  writeFileSync(join(directory, "package.json"), JSON.stringify({ engines: { node: needs } }))
  if (installed !== undefined) {
    mkdirSync(join(directory, "node_modules", ours, ".."), { recursive: true })
    mkdirSync(join(directory, "node_modules/.bin"))
    writeFileSync(join(directory, "node_modules", ours), installed)
    chmodSync(join(directory, "node_modules", ours), 0o755)
    symlinkSync(`../${ours}`, join(directory, "node_modules/.bin/node"))
  }
  return directory
}

const works = "#!/bin/sh\necho v24.0.0\n"
/** What becomes of a program whose loader is not there. */
const broken = "#!/nowhere/ld-linux\n"

const run = (directory: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8" })
  return { status, said: stderr }
}
const linked = (directory: string) => existsSync(join(directory, "node_modules/.bin/node"))

describe("scripts/link-node.mjs", () => {
  const link = (directory: string) => run(directory, "scripts/link-node.mjs")

  it("links the Node that was installed, also after npm has cleared its own link away", () => {
    const directory = checkout(">=24", works)
    rmSync(join(directory, "node_modules/.bin"), { recursive: true })
    assert.deepStrictEqual(link(directory), { status: 0, said: "" })
    assert.strictEqual(readlinkSync(join(directory, "node_modules/.bin/node")), `../${ours}`)
  })

  it("leaves the system's Node where the installed one does not run, and says so", () => {
    const directory = checkout(">=24", broken)
    const { said, status } = link(directory)
    assert.strictEqual(status, 0)
    assert.isFalse(linked(directory))
    assert.include(said, `Scripts run on the system's, ${process.version}.`)
  })

  it("fails with a sentence where neither will do", () => {
    for (const directory of [checkout(">=999", broken), checkout(">=999")]) {
      const { said, status } = link(directory)
      assert.strictEqual(status, 1)
      assert.isFalse(linked(directory))
      assert.include(said, `Turnpike needs Node 999 or newer, and the system's is ${process.version}.`)
    }
  })

  it("does nothing where no Node was installed and the system's is right", () => {
    const directory = checkout(">=24")
    assert.deepStrictEqual(link(directory), { status: 0, said: "" })
    assert.isFalse(linked(directory))
  })
})

describe("scripts/needs-node.cjs, preloaded", () => {
  const start = (directory: string) => run(directory, "-r", "./scripts/needs-node.cjs", "--eval", "process.exit(7)")

  it("lets a Node that is new enough go on", () => {
    assert.deepStrictEqual(start(checkout(">=24")), { status: 7, said: "" })
  })

  it("stops an older one with a sentence that says how to get the right one", () => {
    const unlinked = start(checkout(">=999", works))
    assert.strictEqual(unlinked.status, 1)
    assert.include(unlinked.said, `Turnpike needs Node 999 or newer, and this is ${process.version}.`)
    assert.include(unlinked.said, "node scripts/link-node.mjs")
    assert.include(start(checkout(">=999")).said, "npm ci")
  })
})
