import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const home = import.meta.dirname
const shipped = join(home, "node_modules/@shopify/ucp-cli/src/core/generated")

/** The reference client's own validator of profiles of a release. It ships as TypeScript, which Node does not read from packages. */
export const clientValidator = async (
  release: string,
  side: "business" | "platform"
): Promise<(profile: unknown) => boolean> => {
  const source = join(shipped, release, `${side}_profile.zod.ts`)
  if (!existsSync(source)) throw new Error(`the client has no validator for ${release}`)
  const folder = join(home, "node_modules/.cache/turnpike")
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${side}-profile-${release}.mjs`)
  writeFileSync(file, stripTypeScriptTypes(readFileSync(source, "utf8")))
  const address = pathToFileURL(file).href
  const schemas = await import(address)
  return (profile) => schemas[`${side}ProfileSchema`].safeParse(profile).success
}
