import { assert, describe, it } from "@effect/vitest"
import { isGuestWithoutPassword, platformOf } from "#domain/NextStep.ts"
import { readPage } from "#domain/page/Page.ts"

/** The platform that the first form of a page is known to be of, and whether it makes a guest of who gives no password. */
const known = (path: string, html: string) => {
  const page = readPage(html, new URL(path, "https://shop.example"))
  const [form] = page.forms
  return form && [platformOf(page, form), isGuestWithoutPassword(page, form)]
}
const none = [undefined, false]

describe("PrestaShop's form for who buys", () => {
  const steps = `<ol class="checkout-steps"><li class="is-active">Your data</li><li>Shipping</li><li>Payment</li></ol>`
  const creates = `<input type="hidden" name="submitCreate" value="1">`
  const password = `<input type="password" name="password">`
  const form = (fields: string, list = steps, action = "/order") =>
    known("/order", `${list}<form method="post" action="${action}"><input name="email">${fields}</form>`)

  it("makes a guest of who leaves its password empty", () => {
    assert.deepStrictEqual(form(creates + password), ["prestashop", true])
    assert.deepStrictEqual(form(creates), ["prestashop", true])
  })

  it("is not known where a password is needed or filled already: it would make an account", () => {
    assert.deepStrictEqual(form(`${creates}<input type="password" name="password" required>`), none)
    assert.deepStrictEqual(form(`${creates}<input type="password" name="password" value="secret">`), none)
  })

  it("is not known where no later step is listed, or at another address: it could be the order", () => {
    assert.deepStrictEqual(form(creates + password, ""), none)
    assert.deepStrictEqual(form(creates + password, steps, "/order-now"), none)
  })

  it("is known by its hidden field alone", () => {
    assert.deepStrictEqual(form(password), none)
    for (const field of [
      `<input type="hidden" name="submitCreate" value="0">`,
      `<input type="checkbox" name="submitCreate" value="1">`,
      `<input type="hidden" name="submitOrder" value="1">`
    ])
      assert.deepStrictEqual(form(field), none, field)
  })
})

describe("OpenCart's form for who buys", () => {
  const guest = `<input type="radio" name="account" value="1" checked><input type="radio" name="account" value="0">`
  const save = `<button type="submit" id="button-register">Continue</button>`
  const checkout = "/index.php?route=checkout/checkout"
  const form = (inside: string, path = checkout, action = "/index.php?route=checkout/register.save") =>
    known(path, `<form method="post" action="${action}"><input name="firstname">${inside}</form>`)

  it("saves the buyer, and is no order", () => {
    assert.deepStrictEqual(form(guest + save), ["opencart", false])
    assert.deepStrictEqual(form(guest + save, `${checkout}&language=en-gb`), ["opencart", false])
  })

  it("is not known by any other button in it, or by none", () => {
    assert.deepStrictEqual(form(guest), none)
    for (const type of ["submit", "button", "image"])
      assert.deepStrictEqual(
        form(`${guest}${save}<input type="${type}" id="button-confirm" value="Confirm">`),
        none,
        type
      )
  })

  it("is not known where it offers no purchase as a guest", () => {
    assert.deepStrictEqual(form(save), none)
    assert.deepStrictEqual(form(`<input type="radio" name="account" value="1">${save}`), none)
    assert.deepStrictEqual(form(`<input type="hidden" name="account" value="0">${save}`), none)
    assert.deepStrictEqual(form(`<input type="radio" name="newsletter" value="0">${save}`), none)
  })

  it("is not known on another page, or where it is sent to another one", () => {
    assert.deepStrictEqual(form(guest + save, "/index.php?route=checkout/checkout_fast"), none)
    assert.deepStrictEqual(form(guest + save, "/index.php?route=account/register"), none)
    assert.deepStrictEqual(form(guest + save, checkout, "/order.php?route=checkout/register.save"), none)
  })
})

describe("the forms of Shopware and Bagisto for who buys", () => {
  it("are known by their addresses, to the end of them", () => {
    const sent = (path: string, action: string) =>
      known(path, `<form method="post" action="${action}"><input name="a"></form>`)
    assert.deepStrictEqual(sent("/de/checkout/register", "/de/account/register"), ["shopware", false])
    assert.deepStrictEqual(sent("/checkout/register/order", "/account/register"), none)
    assert.deepStrictEqual(sent("/checkout/register", "/account/register/order"), none)
  })

  it("are known by their fields, on that page alone", () => {
    const names = ["billing.first_name", "billing.address.[0]", "billing.use_for_shipping"]
    const form = (fields: ReadonlyArray<string>, path = "/checkout/onepage") =>
      known(path, `<form method="post">${fields.map((name) => `<input name="${name}">`).join("")}</form>`)
    assert.deepStrictEqual(form(names), ["bagisto", false])
    assert.deepStrictEqual(form(names.slice(1)), none)
    assert.deepStrictEqual(form(names, "/checkout/onepage/success"), none)
  })
})
