// Preloaded by whatever starts a server or a command. To find what one import names, Node reads and parses package.json once more (that
// of a package with all that it exports) and looks the file up; of a thousand files that is two fifths of the time to load them.
// Here what was found once is known: a name from package.json leads where it says, a relative one is relative to its file, and whatever
// one file of ours gets from a package another one gets as well. Anything else, and the first of each kind, is left to Node.
const { registerHooks } = require("node:module")
const { pathToFileURL } = require("node:url")
const { imports } = require("../package.json")

const root = pathToFileURL(`${__dirname}/../`).href
/** Of `#domain/` and its like, where they lead. */
const named = new Map(
  Object.entries(imports).map(([name, target]) => [name.replace("*", ""), new URL(target.replace("*", ""), root).href])
)
/** The folders of our own code: in none of them there is another node_modules. */
const own = [...new Set(Object.values(imports).map((target) => new URL(target.split("/")[1] ?? "", root).href))]
const isOwn = (url) => own.some((folder) => url.startsWith(`${folder}/`))

/** A file that is named in full, by a path that means what it looks like. */
const inFull = /^(?:\.\.?|#\w+)\/(?:[\w-]+\/|\.\.\/)*[\w.-]+(\.\w+)$/
/** What is named by a package, or by a name of the package that asks. */
const ofPackage = /^[#@\w][^:]*$/

const fileOf = (specifier, parent) => {
  const name = specifier.slice(0, specifier.indexOf("/") + 1)
  const folder = named.get(name)
  if (specifier.startsWith(".")) return new URL(specifier, parent).href
  return folder !== undefined && isOwn(parent) ? folder + specifier.slice(name.length) : undefined
}
const folderOf = (url) => url.slice(0, url.lastIndexOf("/") + 1)

/** How the files of a folder with such an ending are to be read, which is the same for all of them. */
const formats = new Map()
/** What was found by a name of a package, from our files or from those of one folder. */
const found = new Map()

const resolve = (specifier, context, next) => {
  const parent = context.parentURL
  // What is required is found by other rules.
  if (!parent?.startsWith("file:") || !context.conditions.includes("import")) return next(specifier, context)
  const ending = inFull.exec(specifier)?.[1]
  const file = ending === undefined ? undefined : fileOf(specifier, parent)
  if (file === undefined && !ofPackage.test(specifier)) return next(specifier, context)
  const known = file === undefined ? found : formats
  const key = file === undefined ? `${isOwn(parent) ? "" : folderOf(parent)} ${specifier}` : folderOf(file) + ending
  const before = known.get(key)
  if (before !== undefined) return { ...before, ...(file === undefined ? {} : { url: file }), shortCircuit: true }
  const { format, url } = next(specifier, context)
  // Behind a link there is another file, which Node has to find for each by itself.
  if (file === undefined ? url.startsWith("file:") : url === file && format !== undefined) known.set(key, { format, url })
  return { format, url, shortCircuit: true }
}

registerHooks({ resolve })
