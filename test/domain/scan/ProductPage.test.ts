import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { isProductPage } from "#domain/scan/Operation.ts"

const isOne = (html: string) =>
  isProductPage(readPage(`<h1>Mugs</h1><p>$9.00</p>${html}`, new URL("https://shop.example/mugs")))
const form = (id: string, more = "") =>
  `<form action="/cart/add" method="post"><input type="hidden" name="id" value="${id}">${more}<button>Add to cart</button></form>`
const link = (id: string) => `<a href="/?add-to-cart=${id}">Add to cart</a>`
const stated = (name: string) => `<script type="application/ld+json">{"@type":"Product","name":"${name}"}</script>`
const item = (name: string) =>
  `<div itemscope itemtype="https://schema.org/Product"><span itemprop="name">${name}</span></div>`

describe("a page of one product", () => {
  it("is no list from which several can be put into the cart, by forms or by links", () => {
    assert.isTrue(isOne(form("1")))
    assert.isFalse(isOne(form("1") + form("2")))
    assert.isFalse(isOne(link("1") + link("2")))
    assert.isFalse(isOne(form("1") + form("2") + item("Red mug") + item("Blue mug")), "which it may state, too")
    assert.isFalse(
      isOne(["12", "13"].map((id) => `<form action="/checkout/cart/add/product/${id}/" method="post"></form>`).join(""))
    )
  })

  it("is no list of a single one, which has a page of its own", () => {
    const page = (html: string, heading = "Mugs", title = "Mugs | Shop") =>
      isProductPage(
        readPage(
          `<title>${title}</title><h1>${heading}</h1>${html}<p>$9.00</p>${form("1")}`,
          new URL("https://shop.example/mugs")
        )
      )
    const linked = `<a href="/red-mug">Red  mug</a>`
    assert.isFalse(page(stated("Red mug") + linked))
    assert.isTrue(page(stated("Red mug")), "nothing else has it")
    assert.isTrue(page(`${stated("Red mug")}<a href="/mugs#reviews">Red mug</a>`), "it is this page")
    assert.isTrue(page(stated("Red mug") + linked, "Red mug, 300 ml"), "it is about it")
    assert.isTrue(page(stated("Red mug") + linked, "Mugs", "Red mug | Shop"), "by its title")
  })

  it("may offer others beside its own", () => {
    assert.isTrue(isOne(form("1") + form("2") + stated("Red mug")), "it says which it is about")
    assert.isTrue(isOne(form("1") + link("2") + link("3")), "its own has the form")
  })

  it("may have a form for each variant, or the same form twice", () => {
    const variant = (id: string) => form(id, '<input type="hidden" name="product_id" value="7">')
    assert.isTrue(isOne(variant("1") + variant("2")))
    assert.isTrue(isOne(form("1") + form("1")))
  })
})
