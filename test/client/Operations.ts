import { readFileSync, writeFileSync } from "node:fs"
import { HttpApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { nameOfPath, signs } from "#client/Operations.ts"
import { operationOf } from "../http/Description.ts"

interface Operation {
  readonly name: string
  /** The method, and what is special about the operation. */
  readonly kind: string
  readonly path: string
}

/** Operations whose answer never ends: no function of the client gives it. */
const endless = ["agent_channel.connect"]

const isText = (id: string) =>
  Object.entries(operationOf(id).responses).some(
    ([status, media]) => status.startsWith("2") && Object.keys(media).some((type) => !/\bjson\b/.test(type))
  )

/** Every operation of the contract that answers, by group. */
export const contract = () => {
  const groups: Record<string, ReadonlyArray<Operation>> = {}
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const { identifier: name, method, path } = endpoint
      const id = `${group.identifier}.${name}`
      if (endless.includes(id)) return
      const special = operationOf(id).headers.includes("idempotency-key") ? "+key" : isText(id) ? "+text" : ""
      groups[group.identifier] = [...(groups[group.identifier] ?? []), { name, kind: method + special, path }]
    }
  })
  return groups
}

/** What all these paths begin with, in whole segments. */
const beginning = (paths: ReadonlyArray<string>): string => {
  const segments = (paths[0] ?? "").split("/")
  while (!paths.every((path) => `${path}/`.startsWith(`${segments.join("/")}/`))) segments.pop()
  return segments.join("/")
}

/** The rest of a path, without the name of the operation where it ends in that. */
const ending = (rest: string, name: string): string =>
  rest.endsWith(`/${name}`) ? rest.slice(0, rest.length - name.length) : rest

/** With a sign wherever there is one for a whole word or more, and for what ends one. */
const signed = (line: string): string =>
  Object.entries(signs).reduce(
    (short, [sign, text]) => short.replaceAll(new RegExp(`${text.replace("+", "\\+")}(?![\\w:])`, "g"), () => sign),
    line
  )

const line = (name: string, group: ReadonlyArray<Operation>): string => {
  const prefix = beginning(group.map(({ path }) => path))
  const words = [...new Set(group.map(({ kind }) => kind))].flatMap((kind) => [
    kind,
    ...group.filter((one) => one.kind === kind).map(({ name, path }) => name + ending(path.slice(prefix.length), name))
  ])
  const start = prefix.replace(/^\/v1\//, "")
  return signed([...(start === nameOfPath(name) ? [] : [start]), ...words].join(" "))
}

/** As the formatter would have them. */
const table = () => {
  const groups = Object.entries(contract()).map(([name, group]) => {
    const [before, text] = [`  ${name}:`, JSON.stringify(line(name, group))]
    return before.length + text.length < 119 ? `${before} ${text}` : `${before}\n    ${text}`
  })
  return `{\n${groups.join(",\n")}\n}`
}

const file = new URL("../../src/client/Operations.ts", import.meta.url)

/** The client's table as it is, and as it would be written from the contract. */
export const tables = () => {
  const present = readFileSync(file, "utf8")
  return { present, wanted: present.replace(/(?<=Turnpike\]: string \} = )\{[\s\S]*\}/, table()) }
}

if (import.meta.main) writeFileSync(file, tables().wanted)
