import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { choiceIn, type Group, isOtherList } from "#layers/ShopBrowser/Choices.ts"
import { mayPress } from "#layers/ShopBrowser/Press.ts"
import { adding, listed, open, send } from "./ShopBrowserAsideShop.ts"
import * as Harness from "./ShopBrowserHarness.ts"

const mug = Harness.mugOf("http://shop.example", "Blue / L")
const standing = { said: "", before: "", source: "", isNear: true, isBefore: true, isElsewhere: false }
const group = (said: string, options: ReadonlyArray<string>, more: Partial<Group["standing"]> = {}): Group => ({
  standing: { ...standing, said, ...more },
  options,
  isAsked: false,
  isChoosing: false
})
const is = (one: Group) => choiceIn(one, mug)

describe("a group of options", () => {
  it("is a choice of the product where the page calls it one, or the candidate names one of its options", () => {
    for (const said of [
      "Size",
      "Farbe:",
      "Couleur",
      "Talla",
      "Misura",
      "Maat",
      "Storlek",
      "Rozmiar",
      "サイズ",
      "颜色",
      "색상"
    ])
      assert.strictEqual(is(group(said, ["1", "2"])), "plainly", said)
    assert.strictEqual(is(group("", ["S", "L"])), "plainly", "of the candidate")
    for (const source of [
      "class product-swatch",
      "name attribute_pa_x",
      "class variant-picker__list",
      "data-option-name x"
    ])
      assert.strictEqual(is(group("", ["1", "2"], { source })), "plainly", source)
  })

  it("keeps its name beside what is said of something else", () => {
    assert.strictEqual(is(group("Size", ["1", "2"], { before: "120 reviews" })), "plainly")
    assert.strictEqual(is(group("", ["1", "2"], { before: "Size" })), "plainly")
  })

  it("may be one where only its kind speaks for it, and is none by nothing but its place", () => {
    assert.strictEqual(is({ ...group("", ["1", "2"]), isChoosing: true }), "maybe")
    assert.strictEqual(is(group("", ["1", "2"])), "no")
  })

  it("is none away from the product, whatever it is called", () => {
    assert.strictEqual(is(group("Size", ["S", "L"], { isElsewhere: true })), "no")
    assert.strictEqual(is(group("Size", ["S", "L"], { isNear: false, isBefore: false })), "no")
  })

  it("is none where it asks for anything besides buying", () => {
    const asides = [
      "Pick up today in Boston",
      "Was this helpful?",
      "Poll: which colour next?",
      "Size of your donation",
      "Gift options",
      "Warranty options",
      "In der Filiale reservieren",
      "Réserver en magasin",
      "Follow this brand",
      "Garantie",
      "店舗で受け取り"
    ]
    for (const before of asides)
      assert.strictEqual(is({ ...group("", ["S", "L"], { before }), isChoosing: true }), "no", before)
    for (const said of asides) assert.strictEqual(is({ ...group(said, ["S", "L"]), isChoosing: true }), "no", said)
    assert.strictEqual(is(group("Size", ["S"], { source: "class review-size-options" })), "no")
  })
})

describe("a list that chooses no variant", () => {
  it("sorts, rates, counts or says where somebody is: a sort of coffee and an operating system are variants", () => {
    for (const name of ["sort_by", "sortBy", "Sortieren", "sorter", "rating", "qty", "country", "lang"])
      assert.isTrue(isOtherList(name), name)
    for (const name of ["Sorte", "sorte_1", "Sorten", "Operating system", "Farbe", "size"])
      assert.isFalse(isOtherList(name), name)
  })
})

describe("what may be pressed as an option", () => {
  it("is nothing that reserves, votes, follows, gives, signs up or answers", () => {
    const never = [
      "Reserve in store",
      "Hold for me",
      "Book a fitting",
      "Helpful",
      "Follow this brand",
      "Notify me",
      "Donate $1",
      "Yes",
      "No",
      "Ja",
      "Oui",
      "Reservieren",
      "Hilfreich",
      "Folgen",
      "Réserver",
      "Suivre",
      "Seguir",
      "Prenota",
      "Volgen",
      "Boka",
      "Zarezerwuj",
      "Rezervovat",
      "Подписаться",
      "予約",
      "关注",
      "예약",
      "Add to bag",
      "addtocart",
      "View basket",
      "Bag (2)",
      "In den Warenkorb",
      "Size chart",
      "Read more"
    ]
    for (const name of never) assert.isFalse(mayPress([name], "option"), name)
    const options = ["S", "XL", "42", "Blue", "Rot", "Cuir", "64 GB", "Ever green"]
    for (const name of [...options, "12 oz bag", "Carton of 6", "Cartridge", "Chartreuse", "Sycamore"])
      assert.isTrue(mayPress([name], "option"), name)
  })
})

if (Harness.missing !== undefined) {
  it("choices were not tried: this machine has no browser", () => assert.match(Harness.missing ?? "", /no browser/))
} else {
  layer(Harness.layer({ allowHosts: listed }))("choosing in a browser", (it) => {
    it.effect("leaves everything alone that is no option of the product", () =>
      Effect.gen(function* () {
        const product = `<ul class="tabs"><li><button onclick="${send("/api/a")}">Ada</button></li></ul>
          <div class="box"><button onclick="${send("/api/cart")}">Add to cart</button></div>
          <fieldset><legend>Pick up today in Boston</legend><button onclick="${send("/api/b")}">Keep one for me</button></fieldset>
          <label><input type="radio" name="next" onchange="${send("/api/c")}"> Red</label>
          <label>Extra <select name="plan" onchange="${send("/api/d")}"><option value="">One-time purchase</option><option value="1">Every month</option></select></label>
          <h2>Reviews</h2><ul><li>Great! <button onclick="${send("/api/e")}">Agreed</button></li></ul>
          <div role="group" aria-label="Round up"><button onclick="${send("/api/f")}">$1 for the ocean</button></div>`
        const { mug, rail, sent } = yield* open({ product })
        const cart = yield* rail.cart(mug)
        assert.strictEqual(cart.status, "passed", cart.detail)
        assert.deepStrictEqual(sent, [])
        assert.notInclude(cart.detail, "chosen")
      })
    )

    it.effect("chooses what may be an option only when nothing was added without it", () =>
      Effect.gen(function* () {
        const kind = (name: string) =>
          `<button type="button" aria-pressed="false" onclick="this.setAttribute('aria-pressed', 'true')">${name}</button>`
        const product = (condition: string) =>
          `<div class="box"><ul><li>${kind("Ada")}</li><li>${kind("Bob")}</li></ul><button onclick="if (${condition}) ${send("/api/cart")}">Add to cart</button></div>`
        const needs = yield* open({ product: product("document.querySelector('[aria-pressed=true]')") })
        const chosen = yield* needs.rail.cart(needs.mug)
        assert.deepInclude(chosen, { status: "passed" }, chosen.detail)
        assert.match(chosen.detail, /chosen: ada/)
        const without = yield* open({ product: product("true") })
        assert.notInclude((yield* without.rail.cart(without.mug)).detail, "chosen")
      })
    )

    it.effect("chooses first where a button that asks for it becomes the one that adds", () =>
      Effect.gen(function* () {
        const option = (name: string) => `<button type="button" role="radio" aria-checked="false">${name}</button>`
        const product = `<div role="radiogroup" aria-label="Colour">${option("Navy")}</div><div role="radiogroup" aria-label="Size">${option("S")}${option("L")}</div>
          <button id="add" disabled onclick="${send("/api/cart")}">Select a size</button>
          <script>const left = new Set(["Colour", "Size"]); for (const one of document.querySelectorAll("[role=radio]")) one.onclick = () => {
            one.setAttribute("aria-checked", "true"); left.delete(one.parentElement.getAttribute("aria-label"))
            if (left.size === 0) { add.disabled = false; add.textContent = "Add to bag" } }</script>`
        const { mug, rail, sent } = yield* open({ product })
        const cart = yield* rail.cart(mug)
        assert.match(cart.detail, /shows "Blue mug", chosen: navy, s\./)
        assert.deepStrictEqual(sent, [])
      })
    )

    it.effect("chooses first where the button says that none is left of what was not chosen", () =>
      Effect.gen(function* () {
        const product = (
          left: string
        ) => `<div><p>Select Size</p><div><button id="s">S</button><button>L</button></div></div>
          <button id="add" disabled onclick="${send("/api/cart")}">Out of stock</button>
          <script>s.onclick = () => { ${left} }</script>`
        const { mug, rail } = yield* open({ product: product('add.disabled = false; add.textContent = "Add to cart"') })
        const cart = yield* rail.cart(mug)
        assert.match(cart.detail, /shows "Blue mug", chosen: s\./)
        const gone = yield* open({ product: product("") })
        assert.deepStrictEqual(
          (yield* gone.rail.cart(gone.mug)).blockers.map(({ id }) => id),
          ["out_of_stock"]
        )
      })
    )

    it.effect("reads what a choice is called only so far, whatever a page makes of it", () =>
      Effect.gen(function* () {
        const radios = `<form><fieldset><legend>Size</legend><input type="radio" name="size" id="one"><label for="one" id="called"></label></fieldset>${adding}</form>`
        const long =
          "called.textContent = 'small '.repeat(500_000); called.style = 'display: block; height: 9px; overflow: hidden'"
        const { mug, rail } = yield* open({ product: `${radios}<script>${long}</script>` })
        const cart = yield* rail.cart(mug)
        assert.strictEqual(cart.status, "passed", cart.detail.slice(0, 300))
        assert.isBelow(cart.detail.length, 1_000)
      })
    )

    it.effect("names the choice that a page goes on asking for, and does not press what asks for it", () =>
      Effect.gen(function* () {
        const product = `<div><button onclick="${send("/api/a")}">Select a size</button></div>`
        const { mug, rail, sent } = yield* open({ product })
        const cart = yield* rail.cart(mug)
        assert.deepStrictEqual([cart.blockers.map(({ id }) => id), sent], [["variant_required"], []])
        assert.include(cart.detail, '"Select a size" where it would add')
      })
    )

    it.effect("buys once what a page would rather sell by subscription, however that is drawn", () =>
      Effect.gen(function* () {
        const drawn = `<div role="radiogroup" aria-label="Purchase options">${["Subscribe and save $10.80", "One-time purchase $12.00"].map((name, at) => `<div role="radio" tabindex="0" aria-checked="${at === 0}" onclick="for (const one of this.parentElement.children) one.ariaChecked = String(one === this)">${name}</div>`).join("")}</div><div>${adding.replace("'/api/cart'", "'/api/cart?sub=' + document.querySelector('[role=radio]').ariaChecked")}</div>`
        const plain = `<label><input type="radio" name="plan" id="sub" checked> Subscribe and save $10.80</label><label><input type="radio" name="plan"> Buy it once</label><div>${adding.replace("'/api/cart'", "'/api/cart?sub=' + sub.checked")}</div>`
        for (const product of [drawn, plain]) {
          const { mug, rail, sent } = yield* open({ product })
          yield* rail.cart(mug)
          assert.deepStrictEqual(sent, ["/api/cart?sub=false"])
        }
      })
    )

    it.effect("adds the product, and not what is recommended above its heading", () =>
      Effect.gen(function* () {
        const above = `<section>Red mug $9.00 ${adding.replace("'/api/cart'", "'/api/cart?other'")}</section>`
        const { mug, rail, sent } = yield* open({ above, product: adding.replace("'/api/cart'", "'/api/cart?own'") })
        assert.strictEqual((yield* rail.cart(mug)).status, "passed")
        assert.deepStrictEqual(sent, ["/api/cart?own"])
      })
    )

    it.effect("presses once more what nothing acted on yet when it was pressed first", () =>
      Effect.gen(function* () {
        const late = `<button id="add" type="button">Add to cart</button><script>setTimeout(() => { add.onclick = () => ${send("/api/cart")} }, 1500)</script>`
        const { mug, rail } = yield* open({ product: late })
        assert.strictEqual((yield* rail.cart(mug)).status, "passed")
      })
    )

    it.effect("unticks what is sold beside the product before it is added", () =>
      Effect.gen(function* () {
        const product = `<label><input type="checkbox" id="box" checked> Add a protection plan for $9</label><div>${adding.replace("'/api/cart'", "'/api/cart?plan=' + box.checked")}</div>`
        const { mug, rail, sent } = yield* open({ product })
        yield* rail.cart(mug)
        assert.deepStrictEqual(sent, ["/api/cart?plan=false"])
      })
    )
  })
}
