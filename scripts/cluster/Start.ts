import { readFileSync } from "node:fs"
import { join } from "node:path"

/** How `npm start` starts a server: the flags it gives to node, and what it tells the C library. */
export const { startFlags, startSettings } = (() => {
  const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"))
  const start = String(scripts.start)
  const settings = [...start.matchAll(/\b(MALLOC_\w+)=(\S+)/g)].map(
    ([, name = "", value = ""]) => [name, value] as const
  )
  return { startFlags: start.match(/--\S+/g) ?? [], startSettings: Object.fromEntries(settings) }
})()
