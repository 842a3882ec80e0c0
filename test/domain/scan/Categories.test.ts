import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { categoriesOf } from "#domain/scan/Categories.ts"

const base = new URL("https://shop.example/")
const categories = (...addresses: ReadonlyArray<string>) => {
  const links = addresses.map((address) => `<a href="${address}">x</a>`).join("")
  return categoriesOf(readPage(links, base), base).map(({ href }) => href.replace("https://shop.example", ""))
}

describe("a page that lists products", () => {
  it("is known by its path, in the words of many shops", () => {
    const known = [
      "/all",
      "/c/shoes",
      "/catalog/",
      "/catalogue",
      "/categories",
      "/category/shoes",
      "/Collection/new",
      "/collections/all",
      "/department/garden",
      "/kategorie/schuhe",
      "/men/",
      "/products",
      "/shop",
      "/store",
      "/women"
    ]
    assert.sameMembers([...categories(...known)], known)
    assert.deepStrictEqual(categories("/about", "/storefront", "/shopping-guide", "/callus", "/mystore"), [])
  })

  it("is known by a number in its query, or by the route to it", () => {
    const known = [
      "/index.php?cPath=1_22",
      "/index.php?main_page=index&cat_id=3",
      "/index.php?category_id=3&page=1",
      "/index.php?id_category=3",
      "/index.php?route=product/category&path=20_27",
      "/index.php?rt=product/category&x=1",
      "/list?path=20"
    ]
    assert.sameMembers([...categories(...known)], known)
    assert.deepStrictEqual(
      categories("/x?cPath=shoes", "/x?cat_id=3a", "/x?mycat_id=3", "/x?route=product/product&id=1"),
      []
    )
  })

  it("is one of the shop's own, listed once whatever its fragment, in order", () => {
    assert.deepStrictEqual(
      categories(
        "/shop#b",
        "/category/b",
        "/shop#a",
        "https://www.shop.example/all",
        "https://other.example/shop",
        "http://["
      ),
      ["/category/b", "/shop", "https://www.shop.example/all"]
    )
  })
})
