import { assert, describe, it } from "vitest"
import { nextStepOf } from "#domain/NextStep.ts"
import { accountWall } from "#domain/page/Accounts.ts"
import { addToCart } from "#domain/page/AddToCart.ts"
import { fieldOf } from "#domain/page/CheckoutFields.ts"
import { readPage } from "#domain/page/Page.ts"
import { isProductPage } from "#domain/scan/Operation.ts"
import { textWanted } from "#domain/ShopperForm.ts"

const pageOf = (html: string, path = "/lamps.html") => readPage(html, new URL(path, "https://shop.example"))

describe("the steps of Magento 1", () => {
  const step = (number: number, name: string, section = "", form = "") =>
    `<li class="section ${section}"><div class="step-title"><span class="number">${number}</span><h2>${name}</h2><a href="#">Edit</a></div>${form}</li>`
  const form = '<form><input name="billing[street][]"></form>'
  const later = (html: string) => nextStepOf("Continue", pageOf(`<ol class="opc" id="checkoutSteps">${html}</ol>`))
  it("are known with their numbers before and a link to change them behind", () => {
    assert.isDefined(
      later(
        step(1, "Billing Information", "allow active", form) + step(2, "Payment Information") + step(3, "Order Review")
      )
    )
    assert.isUndefined(
      later(step(1, "Billing Information", "allow") + step(2, "Payment Information", "allow active", form))
    )
    const open = step(2, "Payment Information", "", "<p>Invoice enclosed</p>")
    assert.isUndefined(later(step(1, "Billing Information", "allow active", form) + open), "all on one page")
  })
})

describe("a list whose buttons are pressed by scripts", () => {
  const card = (name: string) =>
    `<li class="item"><a href="/${name}.html"><img src="/${name}.jpg"></a><h2><a href="/${name}.html">${name}</a></h2><span>$9.00</span><button type="button" onclick="send('/checkout/cart/add/${name}')">Add to Cart</button></li>`
  const own = '<button type="button" onclick="send(1)">Add to Cart</button>'
  const button = `<span>$9.00</span>${own}`
  const byHeading = `<li><h2><a href="/brass.html">Brass</a></h2>${button}</li>`
  const byPicture = `<li><a href="/brass.html"><img src="/b.jpg"></a><a href="/brass.html">Brass</a>${button}</li>`
  it("is no page of a product, with one or with several", () => {
    for (const cards of [card("brass"), card("brass") + card("copper"), byHeading, byPicture])
      assert.isFalse(isProductPage(pageOf(`<h1>Lamps</h1><ul>${cards}</ul>`)))
  })

  it("is told by a link with a heading, or with a picture and words, and not by any link", () => {
    for (const link of ['<a href="/care.html">Care</a>', '<a href="/lamps.html#top"><img src="/b.jpg">Brass</a>'])
      assert.isTrue(isProductPage(pageOf(`<h1>Lamp</h1><div>${link}${button}</div>`)), link)
  })

  it("may stand below a product, whose own button comes first", () => {
    const html = `<div><h1>Desk lamp</h1><p>$59.90</p>${own}</div><h2>Related</h2><ul>${card("brass")}</ul>`
    assert.isTrue(isProductPage(pageOf(html)))
    assert.isUndefined(addToCart(pageOf(`<ul>${card("brass")}</ul>${html}`))?.control?.isOfOther)
  })
})

describe("fields and addresses of Magento 1", () => {
  it("a middle name is no name, and a text that a class of its script wants is wanted", () => {
    const { forms } = pageOf(
      '<form><label>Middle Name/Initial <input name="billing[middlename]"></label><label>Engraving <input name="options[1]" class="input-text required-entry"></label></form>'
    )
    const [form] = forms
    const [middle] = form?.controls ?? []
    assert.isUndefined(middle && fieldOf(middle))
    assert.strictEqual(form && textWanted(form), "Engraving")
  })

  it("a login below /checkout/onepage lets no guest on by its address alone", () => {
    const login =
      '<h1>Checkout</h1><p>Already registered? Please log in below.</p><form method="post" action="/customer/account/loginPost"><label>Email <input name="login[username]"></label><label>Password <input type="password" name="login[password]"></label><button>Login</button></form>'
    const link = '<a href="https://shop.example/checkout/onepage/">Checkout</a>'
    const at = new URL("https://shop.example/customer/account/login/")
    assert.isDefined(accountWall(readPage(login + link, at), at))
  })
})
