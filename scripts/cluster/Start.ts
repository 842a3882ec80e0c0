import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const flagsOf = (script: string): ReadonlyArray<string> => [
  ...[...script.matchAll(/-r (\S+)/g)].map(([, file = ""]) => `--require=${join(root, file)}`),
  ...(script.match(/--\S+/g) ?? [])
]

/** The flags that `npm start` and `npm run turnpike` give to node, wherever it is started. */
export const startFlags = flagsOf(String(scripts.start))
export const turnpikeFlags = flagsOf(String(scripts.turnpike))

/** What `npm start` tells the C library. */
export const startSettings: Readonly<Record<string, string>> = Object.fromEntries(
  [...String(scripts.start).matchAll(/\b(MALLOC_\w+)=(\S+)/g)].map(
    ([, name = "", value = ""]) => [name, value] as const
  )
)
