import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const run = promisify(execFile)
export const root = join(import.meta.dirname, "../..")
export const deno = ["@deno/linux-x64-glibc", "@deno/linux-arm64-glibc"]
  .map((name) => join(root, "node_modules", name, "deno"))
  .find((path) => existsSync(path))

export interface Consumer {
  /** Everything that was made, to be removed. */
  readonly everything: string
  /** Where programs are written that import the package. */
  readonly folder: string
  /** The package as it is installed there. */
  readonly installed: string
}

/** Builds the package, packs it, and installs the tarball where nothing else is and nothing can be fetched. */
export const consumer = async (): Promise<Consumer> => {
  const everything = realpathSync(mkdtempSync(join(tmpdir(), "turnpike-consumer-")))
  const [folder, built] = [join(everything, "consumer"), join(everything, "built")]
  const npm = (...args: ReadonlyArray<string>) =>
    run("npm", [...args, "--offline", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: folder,
      env: { ...process.env, npm_config_cache: join(everything, "cache"), npm_config_update_notifier: "false" }
    })
  mkdirSync(folder)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }))
  await run(process.execPath, [join(root, "scripts/build-client.mjs"), built])
  await npm("pack", built, "--pack-destination", everything)
  const tarball = readdirSync(everything).find((name) => name.endsWith(".tgz")) ?? ""
  await npm("install", join(everything, tarball))
  return { everything, folder, installed: join(folder, "node_modules/turnpike") }
}

/** What a program prints, as JSON. */
export const printed = async (
  folder: string,
  [command, ...before]: readonly [string, ...ReadonlyArray<string>],
  program: string,
  args: ReadonlyArray<string>
): Promise<unknown> => {
  writeFileSync(join(folder, "program.mjs"), program)
  const { stdout } = await run(command, [...before, "program.mjs", ...args], { cwd: folder })
  return JSON.parse(stdout)
}

/** How a project is set up, besides what is strict. */
export interface Setup {
  readonly module: "nodenext" | "preserve"
  readonly skipLibCheck: boolean
}

const mistake = /^(.*)\((\d+),\d+\): error TS/

/** The lines that TypeScript finds wrong; those of the program by their number, others with their file. */
export const wrongLines = async (folder: string, setup: Setup, program: string): Promise<ReadonlyArray<string>> => {
  const compilerOptions = { ...setup, target: "es2022", lib: ["es2023", "dom"], types: [], strict: true, noEmit: true }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }))
  writeFileSync(join(folder, "program.ts"), program)
  const tsc = [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"]
  const said: string = await run(process.execPath, tsc, { cwd: folder }).then(
    ({ stdout }) => stdout,
    ({ stdout }) => stdout
  )
  return said.split("\n").flatMap((line) => {
    const [, file, number = ""] = mistake.exec(line) ?? []
    return file === undefined ? [] : [file === "program.ts" ? number : `${file} ${number}`]
  })
}
