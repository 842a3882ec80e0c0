// Makes the folder that `npm pack` takes: the client as a package of its own, with JavaScript for every runtime and declarations that
// need nothing of this repository. An import or a type from elsewhere stops the build. Another folder may be named that is not there yet.
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, posix, resolve } from "node:path"
import { rolldown } from "rolldown"
import { root, toolPath } from "./tool.mjs"

const [elsewhere] = process.argv.slice(2)
const folder = resolve(elsewhere ?? join(root, "dist/client"))
const source = (file) => join(root, "src/client", file)
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const refuse = (what, names) => {
  if (names.length > 0) throw new Error(`${what}: ${[...new Set(names)].join(", ")}`)
}

const bundle = async (name, { allowed, minify, ...options }) => {
  const build = await rolldown({
    input: source(`${name}.ts`),
    platform: "neutral",
    transform: { target: "es2022" },
    ...options
  })
  const { output } = await build.write({ file: join(folder, `${name}.js`), format: "esm", minify, comments: !minify })
  await build.close()
  const [{ code }, ...others] = output
  // From the text: what the bundler lists has imports that nothing uses any more.
  const imports = [...code.matchAll(/(?:^|;)import\b[^;]*?["']([^"']+)["']/gm)].map(([, name]) => name)
  refuse(`${name}.js is not to need`, [
    ...imports.filter((one) => !allowed.test(one)),
    ...others.map(({ fileName }) => fileName)
  ])
  console.log(`${name}.js: ${Buffer.byteLength(code)} bytes, imports: ${imports.join(", ") || "none"}`)
}

/** The types of the contract, from the values that are declared in full. */
const contractIn = (declared) =>
  declared.replace(/^export declare const (?=\w+: )/gm, "export type ").replace(/^(export type \w+):/gm, "$1 =")

/** Writes the declarations that a module needs, and those they need; gives the packages they name. */
const declare = (from, entry) => {
  const packages = []
  const files = new Set([entry])
  for (const file of files) {
    const text =
      file === "client/Contract"
        ? contractIn(readFileSync(join(from, "client/ContractInFull.d.ts"), "utf8"))
        : readFileSync(join(from, `${file}.d.ts`), "utf8")
    // Aliases of this repository become paths, and TypeScript's endings those of modules.
    const rewritten = text.replace(/(\bfrom |\bimport\(|^import )"([^"]+)"/gm, (whole, before, name) => {
      if (!/^[#.]/.test(name)) {
        packages.push(name)
        return whole
      }
      const target = (name.startsWith("#") ? name.slice(1) : posix.join(dirname(file), name)).replace(/\.ts$/, "")
      files.add(target)
      const path = posix.relative(dirname(file), target)
      return `${before}"${path.startsWith(".") ? path : `./${path}`}.mjs"`
    })
    const to = join(folder, "types", `${file}.d.mts`)
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, rewritten)
  }
  return { files: [...files], packages }
}

const declarations = () => {
  const temporary = mkdtempSync(join(tmpdir(), "turnpike-declarations-"))
  try {
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(root, "src"),
      outDir: join(temporary, "out"),
      typeRoots: [join(root, "node_modules/@types")],
      plugins: []
    }
    const files = ["client.ts", "effect.ts", "ContractInFull.ts"].map(source)
    const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: [], files }
    writeFileSync(join(temporary, "tsconfig.json"), JSON.stringify(config))
    execFileSync(toolPath("tsc"), ["-p", temporary], { stdio: "inherit" })
    const plain = declare(compilerOptions.outDir, "client/client")
    refuse("The declarations of the client are not to need", [
      ...plain.packages,
      ...plain.files.filter((file) => !file.startsWith("client/"))
    ])
    const { packages } = declare(compilerOptions.outDir, "client/effect")
    refuse(
      "The declarations of the client on Effect are not to need",
      packages.filter((name) => !/^(?:effect(?:$|\/)|node:crypto$)/.test(name))
    )
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

if (elsewhere === undefined) rmSync(folder, { recursive: true, force: true })
mkdirSync(dirname(folder), { recursive: true })
mkdirSync(folder)
await bundle("client", { allowed: /^$/, minify: true })
await bundle("effect", {
  allowed: /^(?:effect(?:\/[\w-]+)?|\.\/client\.js)$/,
  minify: false,
  external: [/^effect(?:$|\/)/, /^node:/],
  resolve: { mainFields: ["module", "main"] },
  // Only what the contract uses: modules of the domain make values and do nothing else. The one of the sandbox's facilitator is made
  // by a call, and would bring the hashes of Node.
  treeshake: { moduleSideEffects: false, manualPureFunctions: ["sandboxAddress"] },
  // One `PaymentError` for both: the paying is the same module.
  plugins: [
    { name: "beside", resolveId: (id) => (id === "./client.ts" ? { id: "./client.js", external: true } : null) }
  ]
})
declarations()
const entry = (name) => ({ types: `./types/client/${name}.d.mts`, default: `./${name}.js` })
const manifest = {
  name: own.name,
  version: own.version,
  description: "The client of Turnpike: a fetch that pays, the typed API, webhooks and the events of agents",
  license: own.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.3" },
  exports: { "./client": entry("client"), "./client/effect": entry("effect"), "./package.json": "./package.json" },
  peerDependencies: { effect: own.dependencies.effect },
  peerDependenciesMeta: { effect: { optional: true } }
}
writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
cpSync(source("README.md"), join(folder, "README.md"))
cpSync(join(root, "LICENSE"), join(folder, "LICENSE"))
