import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

/** Which folders a folder may import. The order is the architecture; an edge that is not here is a mistake. */
const mayImport: Record<string, ReadonlyArray<string>> = {
  "src/domain": [],
  "src/api": ["#domain"],
  "src/client": ["#domain", "#api"],
  services: ["#domain"],
  layers: ["#domain", "#services"],
  "src/http": ["#domain", "#api", "#services"]
}

/** Packages that a folder must not know, because they do what the folder is not there for. */
const mustNotKnow: Record<string, RegExp> = {
  // Readers of text that do nothing but read: a page, a host name and a robots.txt are judged by pure rules.
  "src/domain":
    /^(?!effect(?:\/(?!(?:sql|http|http-api|platform|process|socket|net|persistence)\b).*)?$|node:crypto$|@noble\/hashes\/|(?:htmlparser2|sax|tldts)$)/,
  "src/api": /^node:|^undici|^@effect\/(?:platform-node|sql-pg)/,
  "src/client": /^@effect\/sql-pg|^effect\/sql/,
  "src/http": /^@effect\/sql-pg|^effect\/sql/,
  services: /^@effect\/platform-node/
}

/** Contracts with more than one body: their layers live in `layers/`. */
const ports = [
  "Database",
  "Deployment",
  "EventBus",
  "HttpListener",
  "Rail",
  "RateSource",
  "TransferRail",
  "SignatureRecovery",
  "AddressResolver",
  "ShopBrowser",
  "PageReading",
  "Facilitator"
]

/** Services that follow the event log. Business code appends facts and never calls them. */
const followers = ["Webhooks", "AgentChannel", "Statistics"]

/** Files that may be longer than 300 lines, each with its reason. */
const longFiles: Record<string, string> = {}

/** Tests that may wait in real time, each with its reason. */
const maySleep: Record<string, string> = {}

/** Of the programs, and of a thread that one of them starts. */
const besideTheServer = ["layers/PageReading/PageThread.ts", "layers/Quarantine/Program.ts"]
const entryPoints = ["src/main.ts", "src/cli.ts", "src/demo.ts", ...besideTheServer]
const product = (file: string) => /^(?:src|services|layers)\//.test(file)
const inside =
  (...folders: ReadonlyArray<string>) =>
  (file: string) =>
    folders.some((folder) => file.startsWith(`${folder}/`))
const but =
  (where: (file: string) => boolean, ...files: ReadonlyArray<string>) =>
  (file: string) =>
    where(file) && !files.includes(file)

/** Patterns that must not appear in the code (comments aside) of the files `where` selects. */
const banned: ReadonlyArray<{ rule: string; where: (file: string) => boolean; pattern: RegExp }> = [
  { rule: "types are not silenced", where: product, pattern: /\bas any\b|\bas unknown as\b/ },
  { rule: "rows are decoded, not cast", where: product, pattern: /\bsql</ },
  {
    // In a plain subquery the planner may take them once for each row of a table that was analyzed when it was small: more each time.
    rule: "rows that are locked up to a limit are taken once, in a WITH or an ARRAY",
    where: product,
    pattern:
      /(?<!ARRAY|\bAS |\bMATERIALIZED )\(\s*SELECT\b(?:[^()`]|\((?:[^()]|\([^()]*\))*\))*?\bLIMIT\b(?:[^()`]|\((?:[^()]|\([^()]*\))*\))*?\bFOR (?:NO KEY )?UPDATE\b/
  },
  { rule: "logs go through Effect", where: but(product, ...entryPoints), pattern: /\bconsole\./ },
  {
    rule: "environment is read in layers/ and at the entry points",
    where: inside("services", "src/domain", "src/api", "src/http", "src/client"),
    pattern: /\bprocess\.env\b/
  },
  { rule: "everything has a bound", where: product, pattern: /\bunbounded\b/ },
  { rule: "every fiber has an owner", where: product, pattern: /\bforkDetach\b/ },
  {
    rule: "time comes from Clock and DateTime",
    where: (file) => product(file) && !file.startsWith("src/client/"),
    pattern: /\bDate\.now\b|\bnew Date\(\)/
  },
  { rule: "a layer is called layer, not Live", where: product, pattern: /\b(?:const|class) \w+Live\b/ },
  {
    rule: "services are composed in layers/",
    where: inside("services"),
    pattern: /\bLayer\.provide|\bEffect\.provide\b/
  },
  {
    rule: "tests use virtual time",
    where: but(inside("test"), "test/tidy.test.ts", ...Object.keys(maySleep)),
    pattern: /\bEffect\.sleep\(/
  },
  {
    rule: "tests all run",
    where: but(inside("test"), "test/tidy.test.ts"),
    pattern: /\b(?:it|test|describe)(?:\.\w+)*\.(?:only|skip|todo)\b/
  }
]

const root = fileURLToPath(new URL("..", import.meta.url))
const ignored = /^(?:node_modules|\.git|\.turnpike|coverage)$/

const walk = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    if (ignored.test(entry.name)) return []
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return walk(path)
    return entry.isFile() &&
      (/\.(?:ts|mjs|json|md|sql|ya?ml|css|html)$/.test(path) || path === ".ci/run" || path === ".npmrc")
      ? [path]
      : []
  })

const files = new Map(walk("").map((path) => [path, readFileSync(join(root, path), "utf8")]))
const source = [...files].filter(([path]) => path.endsWith(".ts"))
const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1")
const code = new Map(source.map(([path, text]) => [path, withoutComments(text)]))

const packageJson = JSON.parse(files.get("package.json") ?? "{}")
const aliases: Record<string, string> = packageJson.imports
const folderOf = (file: string) => Object.keys(mayImport).find((folder) => file.startsWith(`${folder}/`))

const specifiers = (file: string) =>
  [...(code.get(file) ?? "").matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g)].map((match) => match[1] ?? "")

/** The project file a specifier names, or undefined for a package. */
const resolve = (file: string, specifier: string) => {
  if (specifier.startsWith(".")) return normalize(join(dirname(file), specifier))
  const alias = Object.keys(aliases).find((key) => specifier.startsWith(key.slice(0, -1)))
  return alias && aliases[alias]?.replace("./", "").replace("*", specifier.slice(alias.length - 1))
}
const imports = new Map(
  source.map(([file]) => [file, specifiers(file).flatMap((specifier) => resolve(file, specifier) ?? [])])
)

const none = (offences: ReadonlyArray<string>) => {
  if (offences.length > 0) assert.fail(`\n${offences.join("\n")}`)
}
const everyFile = (offence: (file: string, text: string) => ReadonlyArray<string> | string | false | undefined) =>
  none([...files].flatMap(([file, text]) => offence(file, text) || []))

describe("the dependency rule", () => {
  for (const [folder, allowed] of Object.entries(mayImport)) {
    it(`${folder} imports only ${["itself", ...allowed].join(", ")}`, () => {
      everyFile((file) => {
        if (folderOf(file) !== folder) return false
        return specifiers(file)
          .filter((specifier) => {
            if (specifier.startsWith("#")) return !allowed.includes(specifier.split("/", 1)[0] ?? "")
            if (specifier.startsWith(".")) return folderOf(resolve(file, specifier) ?? "") !== folder
            return mustNotKnow[folder]?.test(specifier)
          })
          .map((specifier) => `${file} imports ${specifier}`)
      })
    })
  }

  it("the client takes nothing but types from outside its folder, except for the one on Effect", () => {
    everyFile((file, text) => {
      if (!file.startsWith("src/client/") || !file.endsWith(".ts") || file === "src/client/effect.ts") return false
      const runtime = [...text.matchAll(/^(?:import|export)(?! type\b)[^"]*?\bfrom "([^".][^"]*)"/gm)]
      return runtime.map((match) => `${file} imports ${match[1]}`)
    })
  })

  it("imports go one way: no file reaches itself", () => {
    const done = new Set<string>()
    const cycles: Array<string> = []
    const visit = (file: string, trail: ReadonlyArray<string>) => {
      if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(" -> "))
      if (done.has(file) || trail.includes(file)) return
      for (const next of imports.get(file) ?? []) visit(next, [...trail, file])
      done.add(file)
    }
    for (const file of imports.keys()) visit(file, [])
    none(cycles)
  })

  it("nobody calls a follower of the event log", () => {
    none(
      [...imports]
        .filter(([file]) => file.startsWith("services/"))
        .flatMap(([file, targets]) =>
          targets
            .filter(
              (target) =>
                followers.some((name) => target === `services/${name}.ts`) && !file.startsWith(target.slice(0, -3))
            )
            .map((target) => `${file} imports ${target}`)
        )
    )
  })

  it("every import names a file that exists", () => {
    none(
      [...imports].flatMap(([file, targets]) =>
        targets.filter((target) => !files.has(target)).map((target) => `${file}: ${target}`)
      )
    )
  })

  it("every file is reached from an entry point, the client or a test", () => {
    const reached = new Set<string>()
    const visit = (file: string) => {
      if (reached.has(file)) return
      reached.add(file)
      for (const next of imports.get(file) ?? []) visit(next)
    }
    for (const file of imports.keys()) {
      if (entryPoints.includes(file) || inside("src/client", "src/dashboard", "test")(file)) visit(file)
    }
    everyFile((file) => product(file) && file.endsWith(".ts") && !reached.has(file) && file)
  })
})

describe("the code", () => {
  for (const { pattern, rule, where } of banned) {
    it(rule, () => {
      everyFile((file) => {
        const found = where(file) && code.get(file)?.match(pattern)
        return found ? `${file}: ${found[0]}` : false
      })
    })
  }

  it("a service has its layer beside its contract, unless it is a port", () => {
    everyFile((file) => {
      const text = code.get(file) ?? ""
      const exempt = !file.startsWith("services/") || ports.includes(basename(file, ".ts"))
      return !exempt && /\bContext\.Service</.test(text) && !/\blayer\w*\s*[:=(]/.test(text) && file
    })
  })

  it("files are named by what they export", () => {
    const vague =
      /(?:^|\/)(?:utils?|helpers?|common|shared|misc|types|index)(?:\/|\.ts$)|(?:Service|Repo|Repository|Manager|Impl|Utils?|Helpers?|Types|Live)\.ts$/i
    const named =
      /(?:^|\/)(?:[A-Z][A-Za-z0-9]*|\d{4}_\w+)\.ts$|^src\/(?:main|cli|demo)\.ts$|^src\/(?:client|dashboard)\//
    everyFile((file) => {
      if (!file.endsWith(".ts") || file === "layers/Live.ts") return false
      return (vague.test(file) || (product(file) && !named.test(file))) && file
    })
  })

  it("files are at most 300 lines, or have a reason", () => {
    const lines = (text: string) => text.trimEnd().split("\n").length
    everyFile((file, text) => {
      const long = /\.(?:ts|mjs)$/.test(file) && lines(text) > 300
      if (file in longFiles) return !long && `${file} is short again: take it off the list`
      return long && `${file}: ${lines(text)} lines`
    })
    none([...Object.keys(longFiles), ...Object.keys(maySleep)].filter((file) => !files.has(file)))
  })
})

describe("the project", () => {
  it("a diagnostic is turned off for one line, never for a file, and type errors never", () => {
    const silenced = /@ts-(?:ignore|nocheck|expect-error)|@effect-diagnostics(?!-next-line)|biome-ignore-(?:all|start)/
    everyFile((file, text) => product(file) && silenced.test(text) && file)
  })

  it("nothing is left for later", () => {
    everyFile((file, text) => /\b(?:TO[D]O|FIX[M]E|XX[X]|HAC[K])\b/.test(text) && file)
  })

  it("no file knows the machine it was written on", () => {
    const machine =
      /(?:^|[\s"'`(=:])\/(?:work|root|home\/\w+|Users\/\w+|tmp\/tp)\/|registry\.(?:npmjs|yarnpkg)\.|"resolved"\s*:/m
    everyFile((file, text) => machine.test(text) && file)
  })

  it("dependencies are exact versions", () => {
    const { dependencies, devDependencies, optionalDependencies } = packageJson
    const all: Record<string, string> = { ...dependencies, ...devDependencies, ...optionalDependencies }
    none(Object.entries(all).flatMap(([name, version]) => (/^\d/.test(version) ? [] : `${name} ${version}`)))
  })

  it("documents name npm scripts and files that exist", () => {
    everyFile((file, text) => {
      if (!file.endsWith(".md")) return false
      const scripts = [...text.matchAll(/\bnpm (?:run (?:-s |--silent )?([\w:-]+)|(start|test)\b)/g)].map(
        (m) => m[1] ?? m[2] ?? ""
      )
      const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map((m) => m[1] ?? "")
      return [
        ...scripts.filter((name) => !(name in packageJson.scripts)).map((name) => `${file}: npm run ${name}`),
        ...links.filter((link) => !existsSync(join(root, dirname(file), link))).map((link) => `${file}: ${link}`)
      ]
    })
  })
})
