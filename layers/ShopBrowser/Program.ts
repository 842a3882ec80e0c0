import { Config, Effect, Option } from "effect"
import { accessSync, constants, statSync } from "node:fs"

/** Where systems keep a Chromium, best first. */
const usual = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/lib/chromium/chromium",
  "/usr/bin/google-chrome-stable",
  "/usr/bin/google-chrome",
  "/opt/google/chrome/chrome"
]

const runs = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** The browser's program, or why there is none. The reason is read by strangers, so it names no path. */
export type Program = { readonly path: string } | { readonly missing: string }

/** What `TURNPIKE_CHROMIUM` says: the program's path, or `off` to have none. Unsaid, the usual places are looked at. */
export const program = Effect.gen(function* (): Effect.fn.Return<Program, Config.ConfigError> {
  const said = yield* Config.option(Config.String("TURNPIKE_CHROMIUM"))
  if (Option.isNone(said)) {
    const path = usual.find(runs)
    return path === undefined ? { missing: "This server has no browser." } : { path }
  }
  const path = said.value.trim()
  if (path === "" || path === "off") return { missing: "The browser is turned off on this server." }
  if (runs(path)) return { path }
  yield* Effect.logWarning(
    "TURNPIKE_CHROMIUM names no program that can be run; steps that need a browser say unknown",
    {
      path
    }
  )
  return { missing: "The browser that this server is set to use is not there." }
})
