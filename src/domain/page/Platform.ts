import type { Confidence } from "../Scan.ts"
import type { PageFacts } from "./PageFacts.ts"
import { clipped } from "./PageText.ts"

const platformIds = [
  "shopify",
  "woocommerce",
  "magento",
  "magento1",
  "bigcommerce",
  "prestashop",
  "shopware",
  "opencart",
  "wix",
  "squarespace",
  "ecwid",
  "salesforce_cc",
  "vtex",
  "medusa",
  "vendure",
  "saleor",
  "evershop",
  "nopcommerce",
  "shift4shop",
  "volusion",
  "weebly",
  "lightspeed",
  "jtl",
  "oxid",
  "tiendanube",
  "spree",
  "odoo",
  "drupal_commerce"
] as const
export type PlatformId = (typeof platformIds)[number]

/** What a shop runs on, as far as its answer shows. */
export interface Platform {
  readonly id: PlatformId
  readonly confidence: Confidence
  readonly marker: string
}

/** Where a mark is looked for. `header` is matched against `name: value`, `cookie` against the name of a cookie that is set. */
type Place = "header" | "cookie" | "generator" | "html"
interface Mark {
  readonly id: PlatformId
  readonly place: Place
  readonly pattern: RegExp
  /** 3 stands alone; 2 is likely; 1 may stand on a foreign site that embeds something. */
  readonly weight: 1 | 2 | 3
}

const mark = (id: PlatformId, weight: Mark["weight"], place: Place, pattern: RegExp): Mark => ({
  id,
  place,
  pattern,
  weight
})

/** The marks of shop systems. */
const platformMarks: ReadonlyArray<Mark> = [
  mark(
    "shopify",
    3,
    "header",
    /^(?:x-shopid|x-shardid|x-shopify-stage|x-sorting-hat-shopid): |^powered-by: shopify(?!.*hydrogen)/i
  ),
  mark("shopify", 2, "cookie", /^_shopify_(?:y|s|essential)$|^_?secure_session_id$/),
  mark(
    "shopify",
    3,
    "html",
    /Shopify\.(?:theme|shop|routes)\s*=|shopify-digital-wallet|id="shopify-features"|shopify-checkout-api-token/
  ),
  mark("shopify", 1, "html", /(?:^|[/"'])cdn\.shopify\.com\/s\/files|\/cdn\/shop\/(?:t|files|products)\//),
  mark("woocommerce", 3, "generator", /^woocommerce/i),
  mark(
    "woocommerce",
    3,
    "html",
    /\/wp-content\/plugins\/woocommerce\/|class="[^"]{0,500}\bwoocommerce(?:-page|-js)?\b|wc_add_to_cart_params|\/wp-json\/wc\/store/
  ),
  mark("woocommerce", 3, "cookie", /^(?:woocommerce_cart_hash|woocommerce_items_in_cart|wp_woocommerce_session_)/),
  mark("magento", 3, "header", /^x-magento-/i),
  mark("magento", 2, "cookie", /^(?:mage-(?:cache|messages|translation)|X-Magento-Vary|private_content_version)/i),
  mark("magento", 3, "html", /type="text\/x-magento-init"|data-mage-init=|Magento_[A-Z]\w{1,60}\/js/),
  mark("magento", 2, "html", /\/static\/version\d{6,}\/frontend\//),
  mark("magento1", 3, "html", /\/skin\/frontend\/|\/js\/varien\/|Mage\.Cookies\.(?:path|domain)\s{0,9}=/),
  mark("magento1", 3, "cookie", /^(?:om_frontend|frontend_cid)$/),
  mark("bigcommerce", 2, "html", /cdn\d{1,2}\.bigcommerce\.com\/s-/),
  mark("bigcommerce", 3, "html", /window\.stencilBootstrap|stencil-utils|data-stencil-/),
  mark("bigcommerce", 3, "cookie", /^SHOP_SESSION_TOKEN$|^fornax_anonymousId$/),
  mark("prestashop", 3, "generator", /^prestashop/i),
  mark("prestashop", 3, "cookie", /^PrestaShop-/),
  mark("prestashop", 3, "header", /^powered-by: prestashop/i),
  mark("prestashop", 2, "html", /var prestashop\s{0,9}=|\/modules\/ps_\w{1,60}\//),
  mark("prestashop", 2, "html", /name="submitCreate"|data-button-action="add-to-cart"/),
  mark("shopware", 3, "header", /^sw-(?:context-token|version-id|language-id|invalidation-states): |^x-shopware-/i),
  mark("shopware", 3, "cookie", /^sw-(?:states|cache-hash)$/),
  mark("shopware", 2, "html", /\/bundles\/storefront\/|data-add-to-cart="true"|window\.salesChannelId|\/store-api\//),
  mark("opencart", 3, "cookie", /^OCSESSID$/),
  mark("opencart", 2, "html", /catalog\/view\/(?:theme|javascript)\/|index\.php\?route=(?:product|checkout|common)\//),
  mark("opencart", 2, "html", /id="button-(?:cart|confirm|guest)"/),
  mark("wix", 3, "header", /^x-wix-request-id: /i),
  mark("wix", 3, "generator", /^wix\.com/i),
  mark("wix", 1, "html", /static\.wixstatic\.com|static\.parastorage\.com/),
  mark("squarespace", 3, "html", /Static\.SQUARESPACE_CONTEXT|<!-- This is Squarespace/),
  mark("squarespace", 2, "header", /^server: squarespace/i),
  mark("squarespace", 1, "html", /(?:static1|assets|images)\.squarespace(?:-cdn)?\.com/),
  mark("ecwid", 2, "html", /app\.ecwid\.com\/script\.js|Ecwid\.init|xProductBrowser\(/),
  mark("salesforce_cc", 3, "cookie", /^(?:dwsid|dwanonymous_\w+|dwac_\w+)$/),
  mark("salesforce_cc", 3, "html", /\/on\/demandware\.(?:store|static)\//),
  mark("vtex", 3, "header", /^(?:x-vtex-\w|powered: vtex|x-powered-by: vtex)/i),
  mark("vtex", 3, "cookie", /^(?:VtexWorkspace|vtex_session|vtex_segment|checkout\.vtex\.com)$/i),
  mark("vtex", 2, "html", /(?:vteximg|vtexassets|vtexcommercestable)\.com(?:\.br)?/),
  mark("medusa", 2, "cookie", /^_medusa_(?:cart_id|jwt|cache_id)$/),
  mark("medusa", 2, "html", /NEXT_PUBLIC_MEDUSA|medusa-public-images\.s3|x-publishable-api-key/),
  mark("vendure", 2, "header", /^vendure-auth-token: /i),
  mark("vendure", 2, "html", /\/shop-api(?:["'/?])|vendure-(?:demo|storefront)/i),
  mark("saleor", 2, "html", /\.saleor\.cloud\/|saleor-(?:storefront|checkout)|data-saleor-/i),
  mark("evershop", 3, "html", /\/assets\/frontStore\/|EverShop(?:["']|\.com)|window\.eContext\s*=/),
  mark("evershop", 2, "generator", /^evershop/i),
  mark("nopcommerce", 3, "generator", /^nopcommerce/i),
  mark("nopcommerce", 3, "cookie", /^\.Nop\./),
  mark("shift4shop", 2, "header", /^x-powered-by: .*(?:3dcart|shift4shop)/i),
  mark("volusion", 2, "html", /cdn\d\.volusion\.store|\/v\/vspfiles\//),
  mark("weebly", 2, "html", /cdn\d?\.editmysite\.com\/(?:app\/website|js)/),
  mark("lightspeed", 2, "html", /(?:cdn|assets)\.(?:webshopapp|shoplightspeed)\.com/),
  mark("jtl", 2, "cookie", /^JTLSHOP$/),
  mark("jtl", 2, "html", /\/templates\/(?:NOVA|Evo)\/|jtl_token/),
  mark("oxid", 2, "html", /\/out\/(?:wave|apex|flow|azure)\/(?:src|img)\/|name="cl" value="(?:start|details|alist)"/),
  mark(
    "tiendanube",
    2,
    "html",
    /(?:\bd\w{5,30}\.cloudfront\.net|acdn\.mitiendanube\.com|dcdn\.(?:mitiendanube|nuvemshop))[^"']{0,100}stores|LS\.store\s*=/
  ),
  mark("odoo", 3, "generator", /^odoo/i),
  mark("odoo", 2, "html", /odoo\.__session_info__|\/web\/assets\/[\w/-]{1,60}web\.assets_frontend/),
  mark("drupal_commerce", 3, "header", /^x-generator: drupal \d.*; commerce /i),
  mark("drupal_commerce", 3, "generator", /^drupal \d.*; commerce /i),
  mark("drupal_commerce", 2, "html", /\/modules\/contrib\/commerce\/|commerce-order-item-add-to-cart-form/),
  mark("spree", 2, "html", /Spree\.(?:routes|pathFor)|spree_api_key|\/assets\/spree\//)
]

/** How much of the page is looked through. */
const characters = 1_500_000

const foundIn = (one: Mark, sources: Readonly<Record<Place, ReadonlyArray<string>>>): string | undefined => {
  for (const text of sources[one.place]) {
    const found = one.pattern.exec(text)
    if (found !== null) {
      return clipped(one.place === "html" ? `html ${found[0]}` : `${one.place} ${text}`, 200)
    }
  }
  return undefined
}

/**
 * What a site runs on, by the marks in an answer: `high` when one stands alone or several agree, `low` when all that is there may
 * be an embedded part of another site. Null when nothing shows.
 */
export const platformOf = (
  facts: Pick<PageFacts, "metas">,
  headers: ReadonlyMap<string, string>,
  setCookies: ReadonlyArray<string>,
  html: string
): Platform | null => {
  const generator = facts.metas.get("generator")
  const sources = {
    header: [...headers].slice(0, 200).map(([name, value]) => `${name.toLowerCase()}: ${value.slice(0, 300)}`),
    cookie: setCookies.slice(0, 100).map((cookie) => cookie.split("=", 1)[0]?.trim().slice(0, 200) ?? ""),
    generator: generator === undefined ? [] : [generator],
    html: [html.slice(0, characters)]
  }
  const weights = new Map<PlatformId, { weight: number; best: number; marker: string }>()
  for (const one of platformMarks) {
    const marker = foundIn(one, sources)
    if (marker === undefined) continue
    const known = weights.get(one.id)
    weights.set(one.id, {
      weight: (known?.weight ?? 0) + one.weight,
      best: Math.max(known?.best ?? 0, one.weight),
      marker: known !== undefined && known.best >= one.weight ? known.marker : marker
    })
  }
  const [first] = [...weights].sort(([, one], [, other]) => other.weight - one.weight)
  if (first === undefined) return null
  const [id, { weight, marker }] = first
  return { id, confidence: weight >= 3 ? "high" : weight === 2 ? "medium" : "low", marker }
}
