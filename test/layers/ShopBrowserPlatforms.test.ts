import { assert, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Harness from "./ShopBrowserHarness.ts"
import { guests, listed, type Shop, shopOf } from "./ShopBrowserPlatformShop.ts"

const { missing } = Harness
const hidden = (name: string, value = "1") => `<input type="hidden" name="${name}" value="${value}">`
const box = (name: string, label: string, more = "") =>
  `<label><input type="checkbox" name="${name}" value="1" ${more}> ${label}</label>`

const step = (state: string, heading: string, form = "") =>
  `<section class="checkout-step ${state}"><h1>${heading}</h1>${form}</section>`

/** A checkout of PrestaShop 9 with its boxes of the law, in Spain, where everybody is asked for a number; all steps go to /pedido. */
const prestashop = (password = "", isScript = false, on = "Continuar a Pago"): Shop => {
  const who = `<form action="/pedido" method="post"><label>Nombre <input name="firstname" required></label><label>Apellidos <input name="lastname" required></label><label>E-mail <input name="email" type="email" required></label><label>Contraseña <input name="password" type="password" ${password}></label>${box("optin", "Recibir ofertas de nuestros socios")}${box("psgdpr", "Acepto las condiciones generales y la política de privacidad (privacy)", "required")}${hidden("submitCreate")}<button name="continue" value="1">Continuar \uE5C8</button></form>`
  const where = `<form action="/pedido?id_address=0" method="post"><label>Dirección <input name="address1" required></label><label>Código postal <input name="postcode" required></label><label>Ciudad <input name="city" required></label><label>Número de identificación <input name="dni" required></label>${hidden("saveAddress", "delivery")}<button name="confirm-addresses" value="1">Continuar</button></form>${isScript ? "<script>fetch('/pedido?ajax=1&action=addressForm', { method: 'POST', body: new URLSearchParams({ id_country: '6' }) })</script>" : ""}`
  const how = `<form action="/pedido" method="post"><label><input type="radio" name="delivery_option[1]" value="2," checked> Envío estándar, gratis</label><button name="confirmDeliveryOption" value="1">${on}</button></form>`
  const pay = `<p>Total: $12.00</p><form action="/module/ps_wirepayment/validation" method="post"><label><input type="radio" name="payment-option"> Pago por transferencia bancaria</label><button>Realizar pedido</button></form>`
  const forms = [who, where, how, pay]
  const names = ["1 Datos personales", "2 Direcciones", "3 Método de envío", "4 Pago"]
  return {
    ways: '<a href="/pedido">Finalizar compra</a>',
    pages: (path, sent) => {
      const at = sent.filter((one) => !one.includes("ajax=1")).length
      return path === "/pedido"
        ? names
            .map((name, index) => step(index === at ? "-current" : "-unreachable", name, index === at ? forms[at] : ""))
            .join("")
        : undefined
    }
  }
}

const login =
  '<label>Email <input type="email" name="e"></label><label>Password <input type="password" name="p"></label>'
/** A box that asks for a login over the page, and what it says besides. */
const asking = (more: string) =>
  `<button id="go">Proceed to Checkout</button><div id="box" role="dialog" hidden><form method="post" action="/login">${login}<button>Sign In</button></form>${more}</div><script>go.onclick = () => { box.hidden = false }</script>`

if (missing !== undefined) {
  it("shops were not tried: this machine has no browser", () => assert.match(missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("a browser in the checkouts of platforms", (it) => {
    it.effect("goes through PrestaShop's, whose steps all go to an address that is an order's", () =>
      Effect.gen(function* () {
        const { log, mug, rail } = yield* shopOf(prestashop("", true))
        assert.strictEqual((yield* rail.cart(mug)).status, "passed")
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "12.00" }, JSON.stringify([done, log]))
        const names = log.sent.map((one) => [...new URLSearchParams(one.split(" ")[1])].map(([name]) => name).join(" "))
        assert.deepStrictEqual(names, [
          "firstname lastname email password psgdpr submitCreate continue",
          "id_country",
          "address1 postcode city dni saveAddress confirm-addresses",
          "delivery_option[1] confirmDeliveryOption"
        ])
        assert.include(log.sent[2], "dni=99999999R")
        const paid = yield* rail.payment
        assert.deepStrictEqual([paid.methods.map(({ method }) => method), log.sent.length], [["bank_transfer"], 4])
      })
    )

    it.effect("makes no account there, and says that one is wanted where its password must not be empty", () =>
      Effect.gen(function* () {
        const { log, mug, rail } = yield* shopOf(prestashop("required"))
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "account_required", severity: "blocking" }, done.detail)
        assert.deepStrictEqual(log.sent, [])
      })
    )

    it.effect("does not fear an order there where the page is at a later step, though it knows no way on", () =>
      Effect.gen(function* () {
        const { log, mug, rail } = yield* shopOf(prestashop("", false, "Hala"))
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepStrictEqual([done.status, done.blockers, log.sent.length], ["unknown", [], 2], JSON.stringify(done))
      })
    )

    it.effect("goes to the checkout for one address beside the one for several, as Magento has both", () =>
      Effect.gen(function* () {
        const ways = `<button onclick="location.href = '/checkout/'">Proceed to Checkout</button><a href="/multishipping/checkout/">Check Out with Multiple Addresses</a>`
        const { mug, rail } = yield* shopOf({
          ways,
          pages: (path) => (path === "/checkout/" ? guests : path === "/multishipping/checkout/" ? login : undefined)
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.notInclude(JSON.stringify(done.blockers), "account_required", done.detail)
        assert.match(done.evidence ?? "", /Continue to payment|Street/, JSON.stringify(done))
      })
    )

    it.effect("says that an account is wanted where the way to the checkout opens a login over the cart", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({ ways: asking('<a href="/register">Create an Account</a>') })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done.blockers.at(-1) ?? {}, { id: "account_required", severity: "blocking" }, done.detail)
      })
    )

    it.effect("does not say so where the cart's page asked for a password before", () =>
      Effect.gen(function* () {
        const beside = `<form method="post" action="/login">${login}<button>Sign In</button></form>`
        const { mug, rail } = yield* shopOf({ ways: `${beside}<button>Proceed to Checkout</button>` })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.notInclude(JSON.stringify(done.blockers), "account_required", done.detail)
      })
    )

    it.effect("goes on as a guest where that login lets guests on", () =>
      Effect.gen(function* () {
        const { mug, rail } = yield* shopOf({
          ways: asking(`<button onclick="location.href = '/checkout/'">Continue as guest</button>`),
          pages: (path) => (path === "/checkout/" ? guests : undefined)
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.notInclude(JSON.stringify(done.blockers), "account_required", done.detail)
        assert.match(done.evidence ?? "", /Continue to payment|Street/, JSON.stringify(done))
      })
    )

    it.effect("agrees to the terms where its way on cannot be pressed before, and to nothing else", () =>
      Effect.gen(function* () {
        const terms = `${box("terms", "I agree to the terms and conditions", 'required id="t"')}${box("news", "Newsletter", 'required id="n"')}`
        const page = `<ol class="steps"><li aria-current="step">Contact</li><li>Payment</li></ol><form method="post" action="/checkout/contact"><label>Email <input type="email" name="email" required></label><label>Name <input name="name" autocomplete="name"></label>${terms}<button id="on" disabled>Continue</button></form><script>t.onchange = () => { on.disabled = !t.checked; n.required = false }</script><form method="post" action="/letters"><label>Email <input type="email" name="to"></label><label><input type="checkbox" name="privacy" required onchange="fetch('/ticked', { method: 'POST' })"> I accept the privacy policy</label><button>Subscribe</button></form>`
        const { log, mug, rail } = yield* shopOf({
          ways: '<a href="/checkout/">Checkout</a>',
          pages: (path) => (path === "/checkout/" ? page : path === "/checkout/contact" ? guests : undefined)
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepStrictEqual(
          log.sent.map((one) => [...new URLSearchParams(one.split(" ")[1])].map(([name]) => name)),
          [["email", "name", "terms"]],
          JSON.stringify(done)
        )
      })
    )

    it.effect("says of no shop that it wants an account where a form for guests stands beside that for one", () =>
      Effect.gen(function* () {
        const account = `<form method="post" action="/register"><label>First name <input name="firstname"></label><label>Email <input type="email" name="e"></label><label>Password <input type="password" name="p" required></label><button>Continue</button></form>`
        const { mug, rail } = yield* shopOf({
          ways: '<a href="/checkout/">Checkout</a>',
          pages: (path) => (path === "/checkout/" ? account + guests.replace("Continue to payment", "Hala") : undefined)
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.notInclude(JSON.stringify(done.blockers), "account_required", done.detail)
      })
    )

    it.effect("goes through Bagisto's, with a telephone number of digits and ways that only their labels draw", () =>
      Effect.gen(function* () {
        const radio = (name: string, id: string, text: string) =>
          `<div><input type="radio" name="${name}" id="${id}" style="display:none"><label for="${id}"></label><label for="${id}"><b>$0.00</b> ${text}</label></div>`
        const field = (name: string, label: string) => `<label>${label} <input name="billing.${name}"></label>`
        const page = `<form id="f">${field("first_name", "First Name")}${field("last_name", "Last Name")}${field("email", "Email")}${field("address.[0]", "Street Address")}${field("city", "City")}${field("phone", "Telephone")}<label><input type="checkbox" name="billing.use_for_shipping" checked> Same address</label><p id="bad"></p><button>Proceed</button></form><p>Grand Total $12.00</p><div id="ship" hidden>${radio("shipping_method", "flat", "Flat Rate")}${radio("shipping_method", "free", "Free Shipping")}</div><div id="pay" hidden>${radio("payment[method]", "cod", "Cash On Delivery")}${radio("payment[method]", "wire", "Bank Transfer")}</div><script>
          const send = (path, body) => fetch("/api/checkout/onepage/" + path, { method: "POST", body })
          f.onsubmit = (event) => {
            event.preventDefault()
            const phone = f.elements["billing.phone"].value
            if (/\\D/.test(phone)) return void (bad.textContent = "The Telephone field may only contain numeric characters")
            send("addresses", phone).then(() => { ship.hidden = false })
          }
          flat.onchange = () => send("shipping-methods", "flat").then(() => { pay.hidden = false })
        </script>`
        const { log, mug, rail } = yield* shopOf({
          ways: '<a href="/checkout/onepage">Checkout</a>',
          pages: (path) => (path === "/checkout/onepage" ? page : undefined)
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.deepInclude(done, { status: "passed", total: "12.00" }, JSON.stringify([done, log]))
        assert.match(done.detail, /shipping: \$0\.00 Flat Rate; \$0\.00 Free Shipping/)
        assert.deepStrictEqual(log.sent, [
          "/api/checkout/onepage/addresses 34915880000",
          "/api/checkout/onepage/shipping-methods flat"
        ])
        const paid = yield* rail.payment
        assert.deepStrictEqual(
          paid.methods.map(({ method }) => method),
          ["cash_on_delivery", "bank_transfer"]
        )
      })
    )

    it.effect("reads what a field is called where that has a colon", () =>
      Effect.gen(function* () {
        const named = guests.replace(
          'Street <input name="street[0]" required>',
          'Street Address: Line 1 <input name="x1" required>'
        )
        const { mug, rail } = yield* shopOf({
          ways: '<a href="/checkout/">Checkout</a>',
          pages: (path) => (path === "/checkout/" ? named.replace("Continue to payment", "Continue") : undefined)
        })
        yield* rail.cart(mug)
        const done = yield* rail.checkout
        assert.notMatch(done.detail, /Not recognised/)
        assert.deepStrictEqual([done.status, done.blockers], ["unknown", []], done.detail)
        assert.match(done.detail, /may take the order itself/)
      })
    )
  })
}
