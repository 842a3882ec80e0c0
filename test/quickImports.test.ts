import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "..")
const preload = "--require=./scripts/quick-imports.cjs"
const directories: Array<string> = []
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** One import in the files of a project: what is said here is no import of this file. */
const get = (what: string, from: string) => `import ${what === "" ? "" : `${what} from `}${JSON.stringify(from)}\n`

/** A project of these files, with the file that is preloaded. */
const project = (files: Readonly<Record<string, string>>) => {
  const directory = mkdtempSync(join(tmpdir(), "turnpike-imports-"))
  directories.push(directory)
  const all = { "package.json": '{ "type": "module", "imports": { "#src/*": "./src/*" } }', ...files }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  cpSync(join(root, "scripts/quick-imports.cjs"), join(directory, "scripts/quick-imports.cjs"))
  return directory
}

const run = (directory: string, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8" })
  return { status, stderr, stdout }
}
/** What a program says with the file preloaded, which is what it says without. */
const said = (directory: string, program = "src/main.ts"): string => {
  const [quick, slow] = [run(directory, preload, program), run(directory, program)]
  assert.deepStrictEqual(quick, slow)
  assert.strictEqual(quick.status, 0, quick.stderr)
  return quick.stdout.trim()
}

describe("scripts/quick-imports.cjs, preloaded", () => {
  it("finds every file of a server where Node finds it, and has it read the same way", () => {
    // Into a file: a process that exits by itself drops what a pipe has not taken, which is all beyond its first 64 KB.
    const list = `
      import { writeFileSync } from "node:fs"
      import { registerHooks } from "node:module"
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url + " " + context.format), next(url, context)) })
      process.on("exit", () => writeFileSync(new URL("loaded.json", import.meta.url), JSON.stringify(loaded)))
      await import(${JSON.stringify(join(root, "src/main.ts"))})`
    const directory = project({ "list.mjs": list })
    const files = (...flags: ReadonlyArray<string>) => {
      const { status } = run(root, ...flags, join(directory, "list.mjs"), "--help")
      const loaded: ReadonlyArray<string> = JSON.parse(readFileSync(join(directory, "loaded.json"), "utf8"))
      return { status, files: loaded.filter((line) => line.startsWith("file:")) }
    }
    const quick = files(preload)
    assert.deepStrictEqual(quick, files())
    assert.isAbove(quick.files.length, 900)
  })

  it("gives each package the version of another one that it has", () => {
    const other = (version: string) => `export const version = ${JSON.stringify(version)}`
    const asks = 'import { version } from "other"; export const of = version'
    const packages = { "two/index.js": asks, "two/node_modules/other/index.js": other("2") }
    const directory = project({
      "src/main.ts": `import { version } from "other"
        import { of as one } from "one"
        import { of as two } from "two"
        import { of as below } from "#src/below/file.ts"
        console.log(version, one, two, below)`,
      "src/below/file.ts": asks,
      "node_modules/one/index.js": asks,
      "node_modules/other/index.js": other("1"),
      ...Object.fromEntries(Object.entries(packages).map(([path, text]) => [`node_modules/${path}`, text])),
      ...Object.fromEntries(
        ["one", "two", "other", "two/node_modules/other"].map((name) => [
          `node_modules/${name}/package.json`,
          '{ "type": "module", "exports": "./index.js" }'
        ])
      )
    })
    assert.strictEqual(said(directory), "1 1 2 1")
  })

  it("leaves a package the names that are its own", () => {
    const directory = project({
      "src/main.ts": 'import { a } from "#src/a.js"\nimport { of } from "one"\nconsole.log(a, of)',
      "src/a.js": 'export const a = "ours"',
      "node_modules/one/package.json":
        '{ "type": "module", "exports": "./index.js", "imports": { "#src/*": "./lib/*" } }',
      "node_modules/one/index.js": 'export { a as of } from "#src/a.js"',
      "node_modules/one/lib/a.js": `export const a = "the package's"`
    })
    assert.strictEqual(said(directory), "ours the package's")
  })

  it("has a file read as the package.json next to it says", () => {
    const directory = project({
      "src/main.ts":
        get("{ a }", "./a.js") +
        get("b", "../old/b.js") +
        get("c", "../old/c.js") +
        get("{ d }", "#src/d.js") +
        "console.log(a, b, c, d)",
      "src/a.js": "export const a = 1",
      "src/d.js": "export const d = 4",
      "old/package.json": '{ "type": "commonjs" }',
      "old/b.js": "module.exports = 2",
      "old/c.js": "module.exports = 3"
    })
    assert.strictEqual(said(directory), "1 2 3 4")
  })

  it("takes two questions to one file for two, as Node does", () => {
    const directory = project({
      "src/main.ts": ["./a.ts?1", "./a.ts?2", "./a.ts", "#src/a.ts", "./%61.ts"].map((file) => get("", file)).join(""),
      "src/a.ts": "console.log(new URL(import.meta.url).search)"
    })
    assert.strictEqual(said(directory), "?1\n?2")
  })

  it("finds what is relative to a file beside that file, however it is spelt", () => {
    const spelt = ["./a.ts?1", "./%61.ts", "./v1.2/a.ts", ".//a.ts", "./a.ts"]
    const asking = spelt.map((file) => get("", file)).join("")
    const says = "console.log(import.meta.url.replace(/.*(?=src)/, ''))"
    const directory = project({
      "src/main.ts": get("", "./one/ask.ts") + get("", "./two/ask.ts"),
      ...Object.fromEntries(
        ["one", "two"].flatMap((folder) => [
          [`src/${folder}/ask.ts`, asking],
          [`src/${folder}/a.ts`, says],
          [`src/${folder}/v1.2/a.ts`, says]
        ])
      )
    })
    const found = said(directory).split("\n")
    for (const folder of ["one", "two"]) {
      assert.includeMembers(found, [`src/${folder}/a.ts?1`, `src/${folder}/a.ts`, `src/${folder}/v1.2/a.ts`])
    }
  })

  it("follows a link from a folder that begins with one", () => {
    const directory = project({
      "src/main.ts": get("", "./links/a.ts") + get("", "./b.ts"),
      "src/b.ts": `${get("{ where }", "./links/a.ts")}console.log(where.replace(/.*(?=src)/, ""))`,
      "src/real.ts": "export const where = import.meta.url"
    })
    mkdirSync(join(directory, "src/links"))
    symlinkSync("../real.ts", join(directory, "src/links/a.ts"))
    assert.strictEqual(said(directory), "src/real.ts")
  })

  it("says which file is missing", () => {
    const directory = project({ "src/main.ts": get("", "./a.ts") + get("", "./gone.ts"), "src/a.ts": "" })
    const { status, stderr } = run(directory, preload, "src/main.ts")
    assert.strictEqual(status, 1)
    assert.include(stderr, "src/gone.ts")
  })
})
