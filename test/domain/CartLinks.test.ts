import { assert, describe, it } from "vitest"
import { cartLink } from "#services/ShoppingEngine/FormPages.ts"
import { readPage } from "#domain/page/Page.ts"

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
})
