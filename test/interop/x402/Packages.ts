import { spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { delimiter, join } from "node:path"

const root = join(import.meta.dirname, "../../..")

/** Whether what the lock file of this folder names is installed in it; a folder without one needs nothing of its own. */
export const isInstalled = (home: string): boolean => {
  const [locked, written] = [join(home, "package-lock.json"), join(home, "node_modules/.package-lock.json")]
  if (!existsSync(locked)) return true
  return existsSync(written) && statSync(written).mtimeMs >= statSync(locked).mtimeMs
}

/** Installs the packages of a folder unless they are there. Says so: it may take a minute. */
export const install = (home: string): void => {
  if (isInstalled(home)) return
  process.stderr.write(`Installing the packages of ${home.slice(root.length + 1)} …\n`)
  // Not `npm ci`: it refuses where a registry has not the binaries of every platform that the lock file knows.
  const args = [
    "install",
    "--no-save",
    "--include=dev",
    "--include=optional",
    "--loglevel=error",
    "--no-audit",
    "--no-fund"
  ]
  // npm picks optional native packages for the Node that runs it: the one of this project.
  const env = { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"] ?? ""}` }
  const { status } = spawnSync("npm", args, { cwd: home, env, stdio: "inherit" })
  if (status !== 0) throw new Error(`npm install in ${home} ended with ${status}`)
}
