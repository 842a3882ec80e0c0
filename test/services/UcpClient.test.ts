import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ucpReleases } from "../../src/domain/protocol/Ucp.ts"
import { make } from "#services/ScanEngine/protocols/UcpClient.ts"
import * as UcpShop from "../shops/UcpShop.ts"
import { look, visit } from "./ProtocolsHarness.ts"

const address = {
  street_address: "1 Main St",
  address_locality: "Springfield",
  address_region: "IL",
  postal_code: "62701",
  address_country: "US"
}
const buyer = { email: "agent@example.com", first_name: "Test", last_name: "Agent" }

/** A client for a shop, from what the scan found. */
const clientOf = (options: UcpShop.UcpShopOptions) =>
  Effect.gen(function* () {
    const shop = yield* UcpShop.open(options)
    const { findings } = yield* look(shop)
    if (findings.ucp === undefined) return assert.fail("no access")
    return { shop, client: yield* make(yield* visit(shop.domain), findings.ucp), access: findings.ucp }
  })

describe("buying over UCP", () => {
  for (const release of ucpReleases) {
    for (const transport of ["mcp", "rest"] as const) {
      it.live(
        `${release} over ${transport}: searched, put in the cart, brought to the point of payment, cancelled; nothing ordered`,
        () =>
          Effect.gen(function* () {
            const { client, shop } = yield* clientOf({ release, transports: [transport] })
            const found = yield* client.search("rose")
            if (found._tag !== "Done") return assert.fail(found._tag)
            const [product] = found.value
            const [variant] = product?.variants ?? []
            assert.deepStrictEqual(
              [product?.title, variant?.id, variant?.price, variant?.currency],
              ["Red rose", "rose", "19.99", "USD"]
            )
            const lines = [{ itemId: variant?.id ?? "", quantity: 2 }]
            const cart = yield* client.createCart({ lines })
            if (cart._tag !== "Done") return assert.fail(cart._tag)
            assert.deepStrictEqual([cart.value.total, cart.value.lines[0]?.quantity], ["39.98", 2])
            const made = yield* client.createCheckout({ lines, currency: "USD", buyer, address })
            if (made._tag !== "Done") return assert.fail(made._tag)
            const { deliveries, id, messages, status } = made.value
            assert.deepStrictEqual([status, messages.map(({ code }) => code)], ["incomplete", ["missing"]])
            const [delivery] = deliveries
            assert.deepStrictEqual([delivery?.id, delivery?.amount], ["standard", "4.50"])
            const chosen = yield* client.updateCheckout(id, { lines, currency: "USD", buyer, address, delivery })
            if (chosen._tag !== "Done") return assert.fail(chosen._tag)
            const asked = yield* client.getCheckout(id)
            if (asked._tag !== "Done") return assert.fail(asked._tag)
            assert.deepStrictEqual([asked.value.status, asked.value.total], ["ready_for_complete", "44.48"])
            if (release !== "2026-01-11") assert.deepStrictEqual(asked.value.paymentHandlers, ["com.example.cards"])
            const cancelled = yield* client.cancelCheckout(id)
            assert.strictEqual(cancelled._tag === "Done" && cancelled.value.status, "canceled")
            assert.strictEqual((yield* client.cancelCart(cart.value.id))._tag, "Done")
            assert.deepStrictEqual([shop.selling.open(), shop.selling.orders()], [0, 0])
          })
      )
    }
  }
  it.live("a shop's no is told with its words", () =>
    Effect.gen(function* () {
      for (const transport of ["mcp", "rest"] as const) {
        const { client } = yield* clientOf({ release: "2026-08-25", transports: [transport] })
        const reply = yield* client.createCheckout({ lines: [{ itemId: "orchid", quantity: 1 }] })
        assert.deepStrictEqual(
          reply._tag === "Refused" && reply.messages.map(({ code, severity }) => [code, severity]),
          [["item_unavailable", "unrecoverable"]]
        )
        const unknown = yield* client.getCheckout("checkout_99")
        assert.strictEqual(unknown._tag === "Refused" && unknown.detail, "not_found No checkout has this id")
      }
    })
  )
  it.live("what the shop does not offer is not asked", () =>
    Effect.gen(function* () {
      const { access, shop } = yield* clientOf({ release: "2026-08-25" })
      const before = shop.asked.length
      const client = yield* make(yield* visit(shop.domain), { ...access, tools: ["create_checkout"] })
      assert.isFalse(client.offers("create_cart"))
      assert.strictEqual((yield* client.createCart({ lines: [] }))._tag, "Broken")
      assert.strictEqual(shop.asked.length, before)
    })
  )
})
