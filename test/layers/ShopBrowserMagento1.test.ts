import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { noneSaid } from "#layers/ShopBrowser/Shipping.ts"
import * as Harness from "./ShopBrowserHarness.ts"
import { listed, shopOf } from "./ShopBrowserPlatformShop.ts"

const { missing } = Harness

const field = (name: string, label: string, more = "") => `<label>${label} <input name="${name}" ${more}></label>`
const address = `${field("billing[firstname]", "First Name")}${field("billing[middlename]", "Middle Name/Initial")}${field("billing[lastname]", "Last Name")}${field("billing[email]", "Email", 'type="email"')}${field("billing[street][]", "Address")}${field("billing[city]", "City")}`
const steps = (form: string) =>
  `<ol class="opc"><li class="section allow active"><div class="step-title"><span class="number">1</span><h2>Billing Information</h2></div>${form}</li><li class="section"><div class="step-title"><span class="number">2</span><h2>Payment Information</h2><a href="#">Edit</a></div></li></ol>`
const shop = (checkout: string) => ({
  ways: '<a href="/checkout/onepage/">Proceed to Checkout</a>',
  pages: (path: string) => (path === "/checkout/onepage/" ? checkout : undefined)
})

it("that nothing is shipped to somebody is known in the words of Magento 1", () => {
  for (const said of [
    "Sorry, no quotes are available for this order at this time.",
    "This shipping method is currently unavailable."
  ])
    assert.isDefined(noneSaid(said), said)
  assert.isUndefined(noneSaid("Quotes of our customers"))
})

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser in the checkout of Magento 1", (it) => {
    for (const [how, answer] of [
      ["a box of the browser", "alert('Please enter a telephone number.')"],
      ["a line under a field", "bad.className = 'validation-advice'"]
    ] as const)
      it.effect(`says what the shop refused by ${how}`, () =>
        Effect.gen(function* () {
          const { log, mug, rail } = yield* shopOf(
            shop(
              steps(
                `<form id="f">${address}<p id="bad" style="display:none">Please enter a telephone number.</p><button>Continue</button></form><style>.validation-advice { display: block !important }</style><script>f.onsubmit = (event) => {
                  event.preventDefault()
                  fetch("/checkout/onepage/saveBilling/", { method: "POST", body: new URLSearchParams(new FormData(f)) }).then(() => { ${answer} })
                }</script>`
              )
            )
          )
          yield* rail.cart(mug)
          const done = yield* rail.checkout
          assert.deepInclude(done.blockers[0] ?? {}, { id: "address_rejected", severity: "blocking" }, done.detail)
          assert.include(JSON.stringify(done), "Please enter a telephone number.")
          const sent = new URLSearchParams(log.sent[0]?.split(" ")[1])
          assert.strictEqual(sent.get("billing[middlename]"), "")
        })
      )

    it.effect("says how the shopper is addressed, which its list wants and does not say", () =>
      Effect.gen(function* () {
        const prefix =
          '<label><em>*</em>Prefix <select name="billing[prefix]"><option value=""></option><option>Mr.</option><option>Ms.</option></select></label>'
        const { log, mug, rail } = yield* shopOf(
          shop(steps(`<form method="post">${prefix}${address}<button>Continue</button></form>`))
        )
        yield* rail.cart(mug)
        yield* rail.checkout
        assert.strictEqual(new URLSearchParams(log.sent[0]?.split(" ")[1]).get("billing[prefix]"), "Mr.")
      })
    )

    it.effect("takes no line for a refusal that stood on the page before it went on", () =>
      Effect.gen(function* () {
        const note = '<p class="error-message">Prices do not include gift wrapping.</p>'
        const pay = `${note}<p>Total: $12.00</p><form method="post" action="/pay"><label><input type="radio" name="payment[method]" value="cod"> Cash on delivery</label><button>Place order</button></form>`
        const { mug, rail } = yield* shopOf({
          ways: '<a href="/checkout/onepage/">Proceed to Checkout</a>',
          pages: (path, sent) =>
            path !== "/checkout/onepage/"
              ? undefined
              : sent.length > 0
                ? pay
                : note + steps(`<form method="post">${address}<button>Continue</button></form>`)
        })
        yield* rail.cart(mug)
        assert.deepInclude(yield* rail.checkout, { status: "passed", total: "12.00" })
      })
    )

    it.effect("says that an account is wanted where a login is all that is shown of its steps", () =>
      Effect.gen(function* () {
        const login = `<form method="post" action="/customer/account/loginPost">${field("login[username]", "Email", 'type="email"')}${field("login[password]", "Password", 'type="password"')}<button>Login</button></form>`
        const { log, mug, rail } = yield* shopOf(
          shop(
            `<h1>Checkout</h1>${login}<div style="display:none"><form>${address}<select name="billing[country_id]"><option>US</option></select></form></div>`
          )
        )
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done.blockers[0] ?? {}, { id: "account_required", severity: "blocking" }, done.detail)
        assert.deepStrictEqual(log.sent, [])
      })
    )
  })
}
