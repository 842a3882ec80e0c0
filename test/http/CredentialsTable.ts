import { readFileSync, writeFileSync } from "node:fs"
import { Api } from "#api/Api.ts"
import { type Asks, asksOf, kindNames } from "#api/Credentials.ts"

const taken = ({ isOpenInSandbox, kinds }: Asks) => {
  if (kinds.length === 0) return "none needed"
  return kinds.map((kind) => kindNames[kind]).join(", ") + (isOpenInSandbox ? "; none needed in the sandbox" : "")
}

const scopes = ({ scannerScope, scope }: Asks) =>
  [scope, scannerScope].flatMap((one) => (one === undefined ? [] : [`\`${one}\``])).join(" or ")

/** Every operation of the contract, with the scope and the credentials that it asks for. */
const table = () => {
  const rows = asksOf(Api).map((asks) => `| \`${asks.method} ${asks.path}\` | ${scopes(asks)} | ${taken(asks)} |`)
  return ["| Operation | Scope | Credentials |", "|---|---|---|", ...rows].join("\n")
}

const file = new URL("../../docs/credentials.md", import.meta.url)

/** The document as it is, and as it would be written from the contract. */
export const documents = () => {
  const present = readFileSync(file, "utf8")
  const wanted = present.replace(/(?<=<!-- operations -->\n)[\s\S]*(?=<!-- \/operations -->)/, () => `\n${table()}\n\n`)
  return { present, wanted }
}

if (import.meta.main) writeFileSync(file, documents().wanted)
