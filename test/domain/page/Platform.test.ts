import { assert, describe, it } from "vitest"
import { readPage } from "#domain/page/Page.ts"
import { platformOf } from "#domain/page/Platform.ts"

const of = (html: string, headers: Record<string, string> = {}, cookies: ReadonlyArray<string> = []) =>
  platformOf(readPage(html, new URL("https://shop.example/")), new Map(Object.entries(headers)), cookies, html)

describe("the platform of a shop", () => {
  it("is known by its own marks", () => {
    for (const [id, found] of [
      ["shopify", of("<script>Shopify.theme = {}</script>")],
      ["shopify", of("", { "powered-by": "Shopify" })],
      ["woocommerce", of(`<meta name="generator" content="WooCommerce 9.1">`)],
      ["woocommerce", of(`<body class="theme-x woocommerce-page">`)],
      ["magento", of("", { "x-magento-cache-debug": "HIT" })],
      ["magento", of(`<script type="text/x-magento-init">{}</script>`)],
      ["magento1", of(`<script src="https://shop.example/js/varien/js.js"></script>`)],
      ["magento1", of("", {}, ["om_frontend=1"])],
      ["drupal_commerce", of(`<meta name="Generator" content="Drupal 11 (https://www.drupal.org); Commerce 3"/>`)],
      ["drupal_commerce", of("", { "X-Generator": "Drupal 11 (https://www.drupal.org); Commerce 3" })],
      ["bigcommerce", of("", {}, ["SHOP_SESSION_TOKEN=x; path=/"])],
      ["prestashop", of("", {}, ["PrestaShop-abc=1"])],
      ["shopware", of("", { "sw-context-token": "x" })],
      ["opencart", of("", {}, ["OCSESSID=1"])],
      ["squarespace", of("<script>Static.SQUARESPACE_CONTEXT = {}</script>")],
      ["salesforce_cc", of(`<img src="/on/demandware.static/a.png">`)],
      ["vtex", of("", {}, ["VtexWorkspace=master"])],
      ["evershop", of(`<link href="/assets/frontStore/a.css">`)],
      ["odoo", of(`<meta name="generator" content="Odoo"/>`)]
    ] as const) {
      assert.deepInclude(found, { id, confidence: "high" }, id)
    }
  })

  it("is known by the controls of its checkout and its products, where nothing else says so", () => {
    for (const [id, html] of [
      ["opencart", `<input type="button" value="Confirm Order" id="button-confirm">`],
      ["opencart", `<button type="button" id="button-cart">Add to Cart</button>`],
      ["prestashop", `<form id="customer-form"><input type="hidden" name="submitCreate" value="1"></form>`]
    ] as const)
      assert.deepInclude(of(html), { id, confidence: "medium" }, html)
  })

  it("is no shop of Drupal's where Drupal sells nothing", () => {
    assert.isNull(of(`<meta name="Generator" content="Drupal 11 (https://www.drupal.org)"/>`))
  })

  it("is only suspected where a foreign site may embed a part of it", () => {
    assert.deepInclude(of(`<img src="https://cdn.shopify.com/s/files/1/a.png">`), { id: "shopify", confidence: "low" })
  })

  it("is the one with more marks where two are on the page", () => {
    const html = `<meta name="generator" content="WooCommerce 9"><img src="https://cdn.shopify.com/s/files/1/a.png">`
    assert.strictEqual(of(html)?.id, "woocommerce")
  })

  it("is not known by what a text says", () => {
    assert.isNull(of("<p>We moved from Shopify and WooCommerce to our own shop.</p>", { server: "nginx" }, ["sid=1"]))
  })
})
