import { readFileSync, writeFileSync } from "node:fs"
import { HttpApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { operationOf } from "../http/Description.ts"

type Routes = Record<string, ReadonlyArray<string>>

/** Operations whose answer never ends: no function of the client gives it. */
const endless = ["agent_channel.connect"]

/** Method and path of every operation of the contract that answers, and whether it takes an idempotency key. */
export const contract = () => {
  const groups: Record<string, Routes> = {}
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { identifier, method, path } = endpoint
      if (endless.includes(`${group.identifier}.${identifier}`)) return
      const { headers } = operationOf(`${group.identifier}.${identifier}`)
      const idempotent = headers.includes("idempotency-key") ? ["idempotent"] : []
      groups[group.identifier] = { ...groups[group.identifier], [identifier]: [method, path, ...idempotent] }
    }
  })
  return groups
}

const table = () => {
  const routes = (one: Routes) =>
    Object.entries(one).map(([name, route]) => `    ${name}: ${JSON.stringify(route).replaceAll(",", ", ")}`)
  const groups = Object.entries(contract()).map(([group, one]) => `  ${group}: {\n${routes(one).join(",\n")}\n  }`)
  return `{\n${groups.join(",\n")}\n}`
}

const file = new URL("../../src/client/Operations.ts", import.meta.url)

/** The client's table as it is, and as it would be written from the contract. */
export const tables = () => {
  const present = readFileSync(file, "utf8")
  return { present, wanted: present.replace(/(?<= operations = )\{[\s\S]*\}(?= as const)/, table()) }
}

if (import.meta.main) writeFileSync(file, tables().wanted)
