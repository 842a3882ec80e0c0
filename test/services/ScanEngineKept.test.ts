import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../shops/Fixture.ts"
import { jsonLd, page, send } from "../shops/Storefront.ts"
import { scanOf } from "./ScanEngineHarness.ts"

describe("what a scan keeps of a product", () => {
  it.live("is of the first size that can be bought, where another one is sold out", () =>
    Effect.gen(function* () {
      const size = (name: string, price: string, availability: string) => ({
        "@type": "Product",
        name: `Tee - ${name}`,
        offers: { "@type": "Offer", price, priceCurrency: "USD", availability: `https://schema.org/${availability}` }
      })
      const hasVariant = [size("S", "30.00", "OutOfStock"), size("M", "32.00", "InStock")]
      const tee = `<p>$32.00</p>${jsonLd({ "@type": "ProductGroup", name: "Tee", hasVariant })}`
      const { domain } = yield* Fixture.open((request, response, base) =>
        request.url === "/products/tee"
          ? send(response, 200, page(base, "Tee", tee))
          : send(response, 200, page(base, "Shop", '<a href="/products/tee">Tee</a>'))
      )
      const { structured_data } = yield* scanOf(domain)
      assert.deepInclude(structured_data?.product, { price: "32.00", availability: "InStock" })
    }).pipe(Effect.scoped)
  )
})
