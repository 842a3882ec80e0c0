import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { paymentFailures } from "#domain/PaymentFailure.ts"
import { operationOf, resolve } from "../http/Description.ts"

const guide = readFileSync(new URL("../../docs/gateway.md", import.meta.url), "utf8")

describe("why a call's money was given back", () => {
  it("is in docs/gateway.md, with what each word means", () => {
    const rows = Object.entries(paymentFailures).map(([word, meaning]) => `| \`${word}\` | ${meaning} |`)
    const mark = "<!-- failures -->"
    const shown = guide.slice(guide.indexOf(mark) + mark.length).trim()
    assert.strictEqual(shown, ["| `failure` | Meaning |", "|---|---|", ...rows].join("\n"))
  })

  it("is told in the reference where a seller meets the words", () => {
    const answerOf = (id: string) =>
      resolve(operationOf(id).responses["200"]?.["application/json"]?.schema ?? {}).properties?.["data"] ?? {}
    const payment = resolve(answerOf("endpoints.payments").items ?? {}).properties?.["failure"]
    const counted = resolve(answerOf("endpoints.stats")).properties?.["failures"]?.items?.properties?.["reason"]
    for (const word of Object.keys(paymentFailures)) {
      assert.include(payment?.description, `\`${word}\``)
      assert.include(counted?.description, `\`${word}\``)
    }
  })
})
