import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Environment } from "#domain/Principal.ts"
import { idleIn, settings, unknownIn } from "#layers/UnreadSettings.ts"

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
      .filter((file) => file.endsWith(".ts") && !file.startsWith("UnreadSettings"))
      .flatMap((file) => [...readFileSync(`${layers}${file}`, "utf8").matchAll(/"(TURNPIKE_[A-Z_]+)"/g)])
      .map(([, name = ""]) => name)
    // A stream of NATS, and what is between our tests.
    const others = ["TURNPIKE_EVENTS", "TURNPIKE_TEST_TEMPLATE"]
    assert.deepStrictEqual([...new Set(read)].filter((name) => !others.includes(name)).toSorted(), settings.toSorted())
  })

  it("are those of the other environment, which are settings of ours", () => {
    const names = ["TURNPIKE_RELAYER_KEY", "TURNPIKE_SETTLEMENT_DELAY", "TURNPIKE_FEE_BASIS_POINTS"]
    assert.deepStrictEqual(idleIn(names, "sandbox"), ["TURNPIKE_RELAYER_KEY"])
    assert.deepStrictEqual(idleIn(names, "live"), ["TURNPIKE_SETTLEMENT_DELAY"])
    for (const environment of Environment.literals) assert.includeMembers(settings, [...idleIn(settings, environment)])
  })
})
