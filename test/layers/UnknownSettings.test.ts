import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { settings, unknownIn } from "#layers/UnknownSettings.ts"

const layers = fileURLToPath(new URL("../../layers/", import.meta.url))

describe("settings that nobody reads", () => {
  it("are named: misspelt ones, and ones in small letters", () => {
    const names = ["TURNPIKE_ENVIROMENT", "TURNPIKE_ENVIRONMENT", "turnpike_fee_basis_points", "PORT", "DATABASE_URL"]
    assert.deepStrictEqual(unknownIn(names), ["TURNPIKE_ENVIROMENT", "turnpike_fee_basis_points"])
  })

  it("are not what a cluster says of a service that is called as we are", () => {
    const names = ["TURNPIKE_SERVICE_HOST", "TURNPIKE_SERVICE_PORT_HTTP", "TURNPIKE_PORT", "TURNPIKE_PORT_80_TCP_ADDR"]
    assert.deepStrictEqual(unknownIn(names), [])
  })

  it("are none of those that any layer reads, and no others are known", () => {
    const read = readdirSync(layers, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.startsWith("UnknownSettings"))
      .flatMap((file) => [...readFileSync(`${layers}${file}`, "utf8").matchAll(/"(TURNPIKE_[A-Z_]+)"/g)])
      .map(([, name = ""]) => name)
    // A stream of NATS, and what is between our tests.
    const others = ["TURNPIKE_EVENTS", "TURNPIKE_TEST_TEMPLATE"]
    assert.deepStrictEqual([...new Set(read)].filter((name) => !others.includes(name)).toSorted(), settings.toSorted())
  })
})
