import { Duration, Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { PageReading } from "#services/PageReading.ts"
import * as Errand from "#services/ShoppingEngine/Errand.ts"
import * as PageReadingHere from "./PageReadingHere.ts"
import { httpOrigin, closeAll } from "./PublicHttpHarness.ts"
import { closeVisits, visitOf } from "./SiteVisitsHarness.ts"

afterEach(async () => {
  await closeVisits()
  await closeAll()
})

/** An errand at a shop that redirects to what `to` says, and what the shop was asked. */
const errandTo = async () => {
  const came: Array<string> = []
  const port = await httpOrigin((request, response) => {
    const url = new URL(request.url ?? "/", "http://shop")
    came.push(`${request.method} ${url.pathname}`)
    const to = url.searchParams.get("to")
    if (to === null) return void response.end("fine")
    response.writeHead(Number(url.searchParams.get("as") ?? 302), { location: to }).end()
  })
  const visit = await visitOf(`127.0.0.1:${port}`)
  const pages = await Effect.runPromise(Effect.provide(PageReading, PageReadingHere.layer))
  const limits = { requests: 20, duration: Duration.seconds(8), reserve: Duration.zero }
  return { came, errand: Errand.make(visit, limits, pages) }
}

const reason = (outcome: Effect.Success<ReturnType<Errand.Errand["look"]>>) =>
  outcome._tag === "NoAnswer" ? outcome.reason : outcome.status

describe("an errand", () => {
  it("follows no redirect to where orders are placed, from a look or from a form", async () => {
    const { came, errand } = await errandTo()
    const form = { url: "/cart/add?to=/order/confirm", body: "id=1" } as const
    const asked = [
      errand.look("/cart?to=/order/confirm"),
      errand.look("/cart?to=/cart.php%3Faction=place_order"),
      errand.look("/cart?to=/checkout/place%252Dorder"),
      errand.submitJudged({ ...form, method: "GET" }),
      errand.submitJudged({ ...form, method: "POST" })
    ]
    for (const one of asked) assert.strictEqual(reason(await Effect.runPromise(one)), "bad_request")
    assert.deepStrictEqual(came, ["GET /cart", "GET /cart", "GET /cart", "GET /cart/add", "POST /cart/add"])
  })

  it("sends no form once more because a redirect says so", async () => {
    const { came, errand } = await errandTo()
    const form = { method: "POST", url: "/cart/add?as=307&to=/orders", body: "id=1" } as const
    assert.strictEqual(reason(await Effect.runPromise(errand.submitJudged(form))), 307)
    assert.deepStrictEqual(came, ["POST /cart/add"])
  })

  it("follows a redirect to anywhere else", async () => {
    const { came, errand } = await errandTo()
    const form = { method: "POST", url: "/cart/add?to=/cart", body: "id=1" } as const
    assert.strictEqual(reason(await Effect.runPromise(errand.submitJudged(form))), 200)
    assert.strictEqual(reason(await Effect.runPromise(errand.look("/p?to=/products/mug"))), 200)
    assert.deepStrictEqual(came, ["POST /cart/add", "GET /cart", "GET /p", "GET /products/mug"])
  })
})
