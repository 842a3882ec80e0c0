import { assert, describe, it } from "@effect/vitest"
import { partiesOf } from "#domain/protocol/FacilitatedParties.ts"

const ours = { tenant_id: "ours" }
const others = { tenant_id: "others" }

describe("who is paid through the facilitator", () => {
  const table = [
    ["a wallet of nobody", undefined, ours, { sandbox: false, live: false }],
    ["a wallet of whoever asks", ours, ours, { sandbox: true, live: true }],
    ["a wallet of somebody else", others, ours, { sandbox: true, live: false }],
    ["a wallet, and nobody says who asks", ours, undefined, { sandbox: true, live: false }]
  ] as const
  for (const [name, payee, asking, expected] of table) {
    it(`${name}: ${JSON.stringify(expected)}`, () => {
      for (const environment of ["sandbox", "live"] as const) {
        const found = partiesOf({ payer: others, payee }, environment, asking)
        const isPaid = expected[environment]
        if ("_tag" in found) assert.deepStrictEqual([found.reason, isPaid], ["invalid_payment_requirements", false])
        else assert.deepStrictEqual([found, isPaid], [{ payer: others, payee }, true])
      }
    })
  }
})
