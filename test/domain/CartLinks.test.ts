import { assert, describe, it } from "vitest"
import { cartLink, checkoutLink } from "#services/ShoppingEngine/FormPages.ts"
import { checkoutWords, isCheckoutPage, isCheckoutPath, saysEmpty } from "#domain/CartWords.ts"
import { readPage } from "#domain/page/Page.ts"
import { cpuTime } from "./CpuTime.ts"

describe("a link", () => {
  const page = (links: ReadonlyArray<readonly [path: string, text: string]>) =>
    readPage(links.map(([path, text]) => `<a href="${path}">${text}</a>`).join(" "), new URL("https://shop.example/x"))

  it("leads to the cart where it shows it, and not where it adds, removes or empties", () => {
    for (const [acts, shows] of [
      ["/index.php?controller=cart&add=1&id_product=2", "/index.php?controller=cart&action=show"],
      ["/en/cart?add=1&id_product=2&token=a", "/en/cart?action=show"],
      ["/cart/?add-to-cart=8", "/cart/?address=1"],
      ["/index.php?main_page=shopping_cart&action=empty_cart", "/index.php?main_page=shopping_cart&zenid=7add3"],
      ["/index.php?main_page=shopping_cart&product_id=3&action=remove_product", "/index.php?main_page=shopping_cart"],
      ["/index.php?route=checkout/cart&remove=4", "/index.php?route=checkout/cart"],
      ["/index.php?_a=basket&empty-basket=true", "/index.php?_a=basket"]
    ] as const) {
      const links = page([
        [acts, "Kettle"],
        [shows, "Items"]
      ])
      assert.strictEqual(String(cartLink(links)), `https://shop.example${shows}`, acts)
    }
  })

  it("leads to the checkout where that ships to one address, as Magento links one for several beside it", () => {
    const many = ["/multishipping/checkout/", "Check Out with Multiple Addresses"] as const
    assert.isUndefined(checkoutLink(page([many])))
    assert.strictEqual(
      String(checkoutLink(page([many, ["/checkout/", "Proceed to Checkout"]]))),
      "https://shop.example/checkout/"
    )
    assert.isUndefined(checkoutLink(page([["/checkout/several", "Check out with several addresses"]])))
  })
})

describe("the words of carts and checkouts", () => {
  const emptyOf = (html: string) => {
    const facts = readPage(`<p>${html}</p>`, new URL("https://shop.example/cart"))
    return saysEmpty(facts.visibleText, facts)
  }

  it("do not say it by the name of a button or a link that empties the cart", () => {
    const full =
      '2 mugs <form method="post"><button>Empty basket</button></form> <a href="/cart?clear=1">Empty cart</a>'
    assert.isUndefined(emptyOf(full))
    assert.isDefined(emptyOf(`Your basket is empty ${full}`))
  })

  it("are read at once where one of them is said again and again without an end", () => {
    assert.isDefined(emptyOf("Ostoskorisi on tyhjä"))
    const before = cpuTime()
    assert.isUndefined(saysEmpty("ostoskori".repeat(10_000), { controls: [], forms: [], links: [] }))
    assert.isBelow(cpuTime() - before, 1_000)
  })

  it("say of a cart that it is empty, as PrestaShop says it", () => {
    for (const said of [
      "There are no more items in your cart",
      "No hay más artículos en su carrito",
      "Il n’y a plus d’articles dans votre panier",
      "Ihr Warenkorb enthält keine weiteren Artikel",
      "Non ci sono più articoli nel tuo carrello",
      "You have no items in your shopping cart."
    ])
      assert.isDefined(emptyOf(said), said)
    for (const said of ["Items in your cart: 2", "There are 10 items in your cart", "Vacation cart"])
      assert.isUndefined(emptyOf(said), said)
  })

  it("say of a cart that it is empty, with or without its article", () => {
    for (const said of [
      "Din varukorg är tom",
      "Din indkøbskurv er tom",
      "カートの中身が空です",
      "카트가 비어 있습니다"
    ])
      assert.isDefined(emptyOf(said), said)
  })

  it("lead there in many languages", () => {
    for (const said of ["Proceed to checkout", "Finalizar compra", "Commander", "Zur Kasse", "Afrekenen"])
      assert.match(said, checkoutWords, said)
    assert.notMatch("Continue shopping", checkoutWords)
  })

  it("are in addresses: of a checkout's page at the end, of what belongs to it anywhere", () => {
    assert.isTrue(isCheckoutPage("/en/checkout/") && isCheckoutPath("/checkout/cart"))
    assert.isFalse(isCheckoutPage("/checkout/cart") || isCheckoutPath("/check"))
  })
})
