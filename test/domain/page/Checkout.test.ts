import { assert, describe, it } from "vitest"
import { accountWall, guestMarks } from "#domain/page/Accounts.ts"
import { checkoutFields } from "#domain/page/CheckoutFields.ts"
import { readPage } from "#domain/page/Page.ts"
import { policyLinks } from "#domain/page/PolicyLinks.ts"

const page = (html: string, path = "/checkout") => readPage(html, new URL(path, "https://shop.example"))
const fields = (html: string) =>
  [...checkoutFields(page(html).controls)].map(([token, control]) => [token, control.name])

describe("fields of a checkout", () => {
  it("are known by their tokens first", () => {
    assert.deepStrictEqual(
      fields(`<input name="a" autocomplete="shipping given-name"><input name="b" autocomplete="section-x billing postal-code">
        <input name="c" autocomplete="country-name"><input name="email" autocomplete="cc-number">`),
      [
        ["given-name", "a"],
        ["postal-code", "b"],
        ["country", "c"],
        ["cc-number", "email"]
      ]
    )
  })

  it("are known by their names", () => {
    assert.deepStrictEqual(
      fields(`<input name="billing_email"><input name="billing_first_name"><input name="billing_last_name"><input name="billing_company">
        <input name="billing_address_1"><input name="billing_address_2"><input name="billing_postcode"><input name="billing_city">
        <select name="billing_state"></select><select name="billing_country"></select><input name="billing_phone">`).map(
        ([token]) => token
      ),
      [
        "email",
        "given-name",
        "family-name",
        "organization",
        "address-line1",
        "address-line2",
        "postal-code",
        "address-level2",
        "address-level1",
        "country",
        "tel"
      ]
    )
    assert.deepStrictEqual(
      fields(`<input name="address[full_name]"><input name="address[address_1]"><input name="firstname"><input name="street[0]">
        <input name="checkout[shipping_address][zip]"><input name="countryCode">`).map(([token]) => token),
      ["name", "address-line1", "given-name", "postal-code", "country"]
    )
  })

  it("are known by their labels in other languages", () => {
    const labelled = (label: string) =>
      checkoutFields(page(`<label>${label} <input name="x1"></label>`).controls)
        .keys()
        .next().value
    for (const [label, token] of [
      ["Vorname *", "given-name"],
      ["Nachname", "family-name"],
      ["Straße und Hausnummer", "address-line1"],
      ["PLZ", "postal-code"],
      ["Ort", "address-level2"],
      ["Code postal", "postal-code"],
      ["Prénom", "given-name"],
      ["Apellidos", "family-name"],
      ["Dirección", "address-line1"],
      ["Cidade", "address-level2"],
      ["Correo electrónico", "email"],
      ["Land", "country"],
      ["郵便番号", "postal-code"]
    ] as const) {
      assert.strictEqual(labelled(label), token, label)
    }
  })

  it("are none of the hidden ones, of searching or of passwords", () => {
    assert.deepStrictEqual(
      fields(
        `<input type=hidden name=email><input type=search name=city><input type=password name=name><input name=q><input name=coupon>`
      ),
      []
    )
  })
})

describe("accounts", () => {
  const login = `<form action="/account/login" method="post"><input type="email" name="email"><input type="password" name="password"><button>Log in</button></form>`
  const wall = (html: string, path: string) => accountWall(page(html, path), new URL(path, "https://shop.example"))

  it("may be left aside where the page says so", () => {
    for (const text of [
      "Checkout as guest",
      "Als Gast bestellen",
      "Commander en tant qu'invité",
      "Comprar como invitado",
      "ゲストとして購入"
    ]) {
      assert.lengthOf(guestMarks(page(`<button>${text}</button>`)), 1, text)
    }
    assert.deepStrictEqual(guestMarks(page(`<a href="/checkout/guest">Go on</a>`)), [
      "https://shop.example/checkout/guest"
    ])
  })

  it("are no wall where guests buy, and not where they only look for their orders", () => {
    for (const text of ["Track order as guest", "Guest order status", "Find my guest order"])
      assert.deepStrictEqual(guestMarks(page(`<a href="/go">${text}</a>`)), [], text)
    for (const html of [
      "<p>Track order as guest, or check out as guest</p>",
      '<a href="/go">check out as guest</a> <a href="/orders">Order status</a>',
      '<p>Free return</p><a href="/go">check out as guest</a>'
    ])
      assert.deepStrictEqual(guestMarks(page(html)), ["check out as guest"], html)
  })

  it("are a wall where one is led to sign in", () => {
    assert.strictEqual(wall(login, "/account/login"), "/account/login")
    assert.strictEqual(wall(login, "/en/customer/account/login/"), "/en/customer/account/login/")
    assert.strictEqual(
      wall("<p>You must be logged in to checkout.</p>", "/checkout"),
      "You must be logged in to checkout"
    )
    for (const said of [
      "You need an account to check out",
      "You'll need an account to place your order",
      "An account is required to check out",
      "Sie benötigen ein Kundenkonto, um zu bestellen",
      "Zum Bestellen benötigen Sie ein Konto",
      "Vous devez avoir un compte pour commander",
      "Un compte est nécessaire pour finaliser la commande",
      "Necesitas una cuenta para comprar",
      "Debes iniciar sesión para finalizar la compra",
      "Du musst angemeldet sein, um deine Bestellung abzuschließen",
      "Debes estar registrado para finalizar la compra"
    ])
      assert.isDefined(wall(`<p>${said}.</p>`, "/checkout"), said)
    for (const said of [
      "You do not need an account to check out",
      "No account is required to check out",
      "Zum Bestellen benötigen Sie kein Konto",
      "Un compte n'est pas nécessaire pour commander",
      "No necesitas una cuenta para comprar"
    ])
      assert.isUndefined(wall(`<p>${said}.</p>`, "/checkout"), said)
  })

  it("are none where guests may pass, or the address is asked beside", () => {
    assert.isUndefined(wall(`${login}<a href="/checkout/guest">Continue as guest</a>`, "/login"))
    assert.isUndefined(wall(`${login}<form><input name="shipping_address_1"></form>`, "/checkout"))
    assert.isUndefined(wall(login, "/products/login-screen-mug"))
    assert.isUndefined(wall("<p>Have an account? Log in</p>", "/checkout"))
  })
})

describe("policies", () => {
  it("are found by text or address, and not in products", () => {
    const links = policyLinks(
      page(`<a href="/products/terms-of-endearment">Terms of Endearment</a><a href="/policies/refund-policy">Refund policy</a><a href="/versand">Versand</a>
        <a href="/agb">AGB</a><a href="/x">Datenschutz</a><a href="/pages/contact">Write to us</a>`)
    )
    assert.deepStrictEqual([...links.keys()].sort(), ["contact", "privacy", "returns", "shipping", "terms"])
    assert.strictEqual(links.get("terms"), "https://shop.example/agb")
  })

  it("are not where a shop asks which order is sent back", () => {
    const links = policyLinks(page('<a href="/sales/guest/form/">Orders and Returns</a><a href="/returns">Returns</a>'))
    assert.strictEqual(links.get("returns"), "https://shop.example/returns")
  })
})
