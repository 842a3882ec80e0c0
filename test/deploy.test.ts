import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const root = join(import.meta.dirname, "..")
const read = (file: string) => readFileSync(join(root, file), "utf8")

describe("deployment", () => {
  for (const file of ["turnpike@.service", "Dockerfile"]) {
    it(`${file} starts a server as \`npm start\` does`, () => {
      const text = read(`deploy/${file}`)
      const command: string = JSON.parse(read("package.json")).scripts.start
      // The image and the unit have the Node that it needs.
      const words = command
        .split(" ")
        .filter((word) => /^(?:--|MALLOC_|\.\/)/.test(word) && !word.includes("needs-node"))
      assert.isAtLeast(words.length, 6)
      for (const word of words) assert.include(text, word)
    })
  }
})

describe("the image", () => {
  const dockerfile = read("deploy/Dockerfile").split("\n")
  const sourcesOf = (line: string) =>
    line
      .split(/\s+/)
      .slice(1, -1)
      .filter((word) => !word.startsWith("--"))
  const copied = dockerfile.filter((line) => line.startsWith("COPY ")).flatMap(sourcesOf)

  it("is built from files that its ignore file lets through", () => {
    const patterns = read("deploy/Dockerfile.dockerignore").split("\n").filter(Boolean)
    const covers = (pattern: string, path: string) =>
      pattern === "*" || path === pattern || path.startsWith(`${pattern}/`)
    // The last pattern that covers a path decides.
    const isSent = (path: string) =>
      patterns.findLast((pattern) => covers(pattern.replace(/^!/, ""), path))?.startsWith("!") ?? true
    assert.isNotEmpty(copied)
    assert.deepStrictEqual(
      copied.filter((path) => !isSent(path)),
      []
    )
  })

  it("has what npm runs after an installation before it installs", () => {
    const before = dockerfile.slice(
      0,
      dockerfile.findIndex((line) => line.startsWith("RUN npm ci"))
    )
    const [script = ""] = /scripts\/\S+/.exec(JSON.parse(read("package.json")).scripts.prepare) ?? []
    assert.include(before.filter((line) => line.startsWith("COPY ")).flatMap(sourcesOf), script)
  })
})

describe("the compose file", () => {
  /** What it leaves out, each with its reason. */
  const leftOut: Record<string, string> = {
    TURNPIKE_DATA_DIR: "the image says",
    TURNPIKE_LOG_FORMAT: "the image says",
    TURNPIKE_CHROMIUM: "the image has no browser",
    TURNPIKE_TEST_TEMPLATE: "is for tests",
    TURNPIKE_EVENTS: "is a stream of NATS"
  }

  it("hands every setting of the server on", () => {
    const files = readdirSync(join(root, "layers"), { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".ts")
    )
    const names = files.flatMap((file) =>
      [...read(`layers/${file}`).matchAll(/"((?:TURNPIKE|OTEL|NATS|DATABASE)_[A-Z_]+)"/g)].map(([, name = ""]) => name)
    )
    const [, server = ""] = /^x-server:([\s\S]*?)^services:/m.exec(read("deploy/compose.yaml")) ?? []
    const handedOn = [...server.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name = ""]) => name)
    assert.includeMembers(names, ["TURNPIKE_RELAYER_KEY", "TURNPIKE_METRICS_TOKEN", "DATABASE_URL"])
    assert.deepStrictEqual(
      [...new Set(names)].filter((name) => !handedOn.includes(name)).sort(),
      Object.keys(leftOut).sort()
    )
  })
})
