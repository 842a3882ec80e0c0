import { assert, describe, it } from "vitest"
import { allowed, soldOut } from "#layers/ShopBrowser/Names.ts"

describe("what a control of a shop is called", () => {
  it("takes a thing out of a cart by a name that has the thing's own, in each language", () => {
    const names = [
      "Remove Linen towel",
      "Linen towel entfernen",
      "Supprimer Linen towel",
      "Eliminar Linen towel",
      "Rimuovi Linen towel",
      "Remover Linen towel",
      "Linen towel verwijderen",
      "Ta bort Linen towel",
      "Fjern Linen towel",
      "Poista Linen towel",
      "Usuń Linen towel",
      "Odebrat: Linen towel",
      "Linen towel ürününü kaldır",
      "Удалить «Linen towel»",
      "Linen towelを削除する",
      "删除 Linen towel",
      "移除 Linen towel",
      "Linen towel 제거"
    ]
    assert.deepStrictEqual(
      names.filter((name) => !allowed.remove.test(name)),
      []
    )
  })

  it("takes out nothing by words in which another thing is said", () => {
    for (const name of [
      "Undo remove",
      "Silver towel",
      "Fjernkontroll",
      "Löschpapier",
      "Verwijderbaar",
      "Remove account",
      "Konto löschen",
      "アカウントを削除"
    ])
      assert.isFalse(allowed.remove.test(name), name)
  })

  it("adds to the cart in Korean by either word for it", () => {
    for (const name of ["장바구니에 담기", "카트에 추가"]) assert.isTrue(allowed.addToCart.test(name), name)
  })

  it("says that none is left", () => {
    for (const said of ["Vyprodáno", "Loppuunmyyty", "품절", "Продано", "Распродано", "Tükendi", "售罄"])
      assert.isTrue(soldOut.test(said), said)
    assert.isFalse(soldOut.test("непродано"))
  })
})
