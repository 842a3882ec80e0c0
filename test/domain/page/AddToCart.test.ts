import { assert, describe, it } from "vitest"
import { addToCart } from "#domain/page/AddToCart.ts"
import { readPage } from "#domain/page/Page.ts"

const found = (html: string) => addToCart(readPage(html, new URL("https://shop.example/products/mug")))

describe("what puts a product into the cart", () => {
  it("is Shopify's form with its variant", () => {
    const add = found(`<form action="/search"><input name=q><button>Search</button></form>
      <form method="post" action="/cart/add" id="product-form"><input type="hidden" name="form_type" value="product"><input type="hidden" name="utf8" value="✓">
      <select name="id"><option value="41" disabled>Small - sold out</option><option value="42">Medium</option></select>
      <input type="number" name="quantity" value="1"><button type="submit" name="add">Add to cart</button></form>`)
    assert.deepInclude(add, {
      kind: "form",
      method: "POST",
      action: "https://shop.example/cart/add",
      isDisabled: false
    })
    assert.deepStrictEqual(add?.fields, [
      ["form_type", "product"],
      ["utf8", "✓"],
      ["id", "42"],
      ["quantity", "1"],
      ["add", ""]
    ])
    assert.deepStrictEqual(add?.choices, [])
  })

  it("is WooCommerce's form whose button carries the product", () => {
    const add =
      found(`<form class="cart" action="https://shop.example/product/mug/" method="post" enctype="multipart/form-data">
      <input type="number" name="quantity" value=""><button type="submit" name="add-to-cart" value="77" class="single_add_to_cart_button">In den Warenkorb</button></form>`)
    assert.deepInclude(add, { kind: "form", enctype: "multipart/form-data" })
    assert.deepStrictEqual(add?.fields, [
      ["quantity", "1"],
      ["add-to-cart", "77"]
    ])
  })

  it("is Magento's form, with the options that have to be chosen first", () => {
    const add =
      found(`<form action="https://shop.example/checkout/cart/add/uenc/x/product/9/" method="post" id="product_addtocart_form">
      <input type="hidden" name="product" value="9"><input type="hidden" name="form_key" value="k">
      <select name="super_attribute[93]" required><option value="">Choose an Option...</option><option value="49">Black</option></select>
      <input type="radio" name="size" value="s"><input type="radio" name="size" value="m">
      <input name="qty" value="1"><button type="submit" id="product-addtocart-button" title="Add to Cart"><span>Add to Cart</span></button></form>`)
    assert.deepStrictEqual(
      add?.choices.map((control) => control.name),
      ["super_attribute[93]", "size"]
    )
    assert.isTrue(add?.fields.some(([name]) => name === "form_key"))
  })

  it("sends what a browser sends for the button that is pressed", () => {
    const add = found(`<form method="post" action="/basket"><input name="id" value="1"><input value="nameless">
      <input name="gone" value="1" disabled><input type="file" name="picture"><input type="reset" name="reset" value="Reset">
      <input type="checkbox" name="wrap" checked><input type="checkbox" name="card" value="yes">
      <input type="radio" name="size" value="s"><input type="radio" name="size" value="m" checked>
      <input name="note"><input name="product_qty"><button name="later" value="1">Save for later</button>
      <button name="add" value="now">Add to cart</button></form>`)
    assert.deepStrictEqual(add?.fields, [
      ["id", "1"],
      ["wrap", "on"],
      ["size", "m"],
      ["note", ""],
      ["product_qty", "1"],
      ["add", "now"]
    ])
    assert.deepStrictEqual(add?.choices, [])
  })

  it("wants first what is needed and is not chosen, each group once, and nothing that cannot be", () => {
    const add = found(`<form method="post" action="/basket"><input type="hidden" name="id" value="1" required>
      <input type="radio" name="size" value="s"><input type="radio" name="size" value="m">
      <input type="radio" name="colour" value="red" checked><input type="radio" name="colour" value="blue">
      <input type="radio" name="none" value="1" disabled><select name="off" disabled><option value="">-<option value="1">1</select>
      <select name="only"><option value="">-</select><select name="length"><option value="">-<option value="1">1</select>
      <input name="engraving" required><input name="initials" required value="AB"><input name="note">
      <input type="checkbox" name="age" value="18" required><input type="checkbox" name="terms" required checked>
      <input name="qty" required><button>Add to cart</button></form>`)
    assert.deepStrictEqual(
      add?.choices.map(({ name }) => name),
      ["size", "length", "engraving", "age"]
    )
  })

  it("is EverShop's button that only a script acts on", () => {
    const add = found(`<div id="app"><input name="qty" value="1"><button type="button">ADD TO CART</button></div>`)
    assert.deepInclude(add, { kind: "button", action: null, marker: "ADD TO CART" })
  })

  it("is a link that adds, where there is no form", () => {
    assert.deepInclude(found(`<a href="?add-to-cart=12" rel="nofollow">Add to basket</a>`), {
      kind: "link",
      action: "https://shop.example/products/mug?add-to-cart=12"
    })
  })

  it("is known in the commonest languages", () => {
    for (const label of [
      "Add to bag",
      "Add 1 to your cart",
      "Buy now",
      "Jetzt kaufen",
      "Ajouter au panier",
      "Añadir al carrito",
      "Agregar al carro",
      "Adicionar ao carrinho",
      "Aggiungi al carrello",
      "In winkelwagen",
      "Lägg i varukorgen",
      "Læg i kurv",
      "Legg i handlekurv",
      "Dodaj do koszyka",
      "Přidat do košíku",
      "В корзину",
      "Sepete Ekle",
      "カートに入れる",
      "加入购物车",
      "장바구니 담기"
    ]) {
      const add = found(
        `<form method="post" action="/x"><input type="hidden" name="id" value="1"><button>${label}</button></form>`
      )
      assert.strictEqual(add?.kind, "form", label)
    }
  })

  it("is nothing that nobody can see, as traps for programs are", () => {
    const form = (action: string, style = "") =>
      `<form method="post" action="${action}" style="${style}"><input type="hidden" name="id" value="1"><button>Add to cart</button></form>`
    for (const style of ["display:none", "position: absolute; left: -9999px", "position:fixed;top:-10000.5px"]) {
      assert.isUndefined(found(form("/trap", style)), style)
      assert.strictEqual(found(form("/trap", style) + form("/basket"))?.action, "https://shop.example/basket", style)
    }
  })

  it("is a button that shows a picture in place of its words", () => {
    const button = `<button style="background: url(/add.png); text-indent: -9999px">Add to cart</button>`
    const form = `<form method="post" action="/basket"><input type="hidden" name="id" value="1">${button}</form>`
    assert.strictEqual(found(form)?.action, "https://shop.example/basket")
  })

  it("is a link without an address by which a script sends the form around it", () => {
    for (const href of ["#", "Javascript:void(0)", ""]) {
      const link = `<a id="add" href="${href}"><i></i> Add to Cart</a>`
      const steps = "<button>−</button><input name=quantity value=1><button>+</button>"
      const add = found(
        `<form method="post" action="/index.php?rt=checkout/cart">${steps}<input type="hidden" name="product_id" value="104">${link}</form>`
      )
      assert.deepInclude(add, { kind: "form", action: "https://shop.example/index.php?rt=checkout/cart" }, href)
      assert.deepStrictEqual(add?.fields, [
        ["quantity", "1"],
        ["product_id", "104"]
      ])
    }
  })

  it("is no link that goes somewhere, stands in no form, or buys at once", () => {
    for (const html of [
      `<form method="post" action="/a"><a href="/contact">Add to cart</a></form>`,
      `<a href="#">Add to cart</a>`,
      `<form method="post" action="/a"><a href="#" onclick="fast()">Buy now</a></form>`
    ])
      assert.isUndefined(found(html), html)
  })

  it("is there but cannot be pressed when sold out", () => {
    assert.isTrue(found(`<form action="/cart/add" method="post"><button disabled>Sold out</button></form>`)?.isDisabled)
  })

  it("is no wish list, search, newsletter or checkout", () => {
    for (const form of [
      `<form action="/wishlist" method="post"><button>Add to wishlist</button></form>`,
      `<form action="/newsletter" method="post"><input name="email"><button>Subscribe</button></form>`,
      `<form action="/search"><button>Search</button></form>`,
      `<form action="/compare" method="post"><button>Add to compare</button></form>`,
      `<form action="/cart" method="post"><button name="checkout">Check out</button></form>`
    ]) {
      assert.isUndefined(found(form), form)
    }
  })
})
