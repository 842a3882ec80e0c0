import type { QuestionId } from "../Rubric.ts"

/** What to do about a question, in the words of the shop's platform where it is known. */
export const fix = (id: keyof typeof general, platform?: string | undefined): string => {
  const own = platform === undefined ? undefined : byPlatform[platform]?.[id]
  return own === undefined ? general[id] : `${general[id]} ${own}`
}

const product = `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"…","image":"https://…","description":"…","sku":"…","brand":{"@type":"Brand","name":"…"},"offers":{"@type":"Offer","price":"19.90","priceCurrency":"USD","availability":"https://schema.org/InStock","url":"https://…"}}</script>`

const general = {
  home_reachable:
    "Serve the home page over https with a valid certificate for this name, and redirect http to it with 301.",
  agents_not_challenged:
    "Let declared shopping agents pass the bot protection: allow verified bots and signed agents (Web Bot Auth) by name, and challenge by behaviour, not by user agent or data centre.",
  robots_allows_agents:
    "Allow shopping agents in robots.txt, before the rules for everybody:\nUser-agent: ChatGPT-User\nUser-agent: OAI-SearchBot\nUser-agent: Claude-User\nUser-agent: Claude-SearchBot\nUser-agent: Perplexity-User\nUser-agent: PerplexityBot\nAllow: /\nDisallow: /account",
  training_policy_stated:
    "Say in robots.txt whether crawlers for training may read the site, either way:\nUser-agent: GPTBot\nUser-agent: ClaudeBot\nUser-agent: Google-Extended\nUser-agent: CCBot\nDisallow: /",
  content_signals:
    "Add a line to the group `User-agent: *` of robots.txt: Content-Signal: search=yes, ai-input=yes, ai-train=no",
  same_for_browsers: "Answer a declared agent as a browser is answered: remove the rule that looks at the user agent.",
  robots_matches_wall:
    "Let the firewall allow whom robots.txt allows, or say in robots.txt who is not wanted. An agent that was invited and then refused reports a broken shop.",
  works_without_javascript:
    "Render product pages on the server: name, price, description and an add-to-cart form (`<form method=post action=/cart>`) in the HTML that is first answered.",
  operable_structure:
    'Give every field and button a name (`<label for>`, text or `aria-label`), the page one `<h1>`, a `<main>` and a `<nav>`, and `<html lang="…">`.',
  latency: "Answer the first byte within 0.8 s: cache product pages at the edge and keep the session out of them.",
  honest_not_found:
    "Answer 404 for paths that do not exist, under `/.well-known/` too, instead of the application's page with 200.",
  no_walls: "Let products and the cart be seen without an account, and ask for age or country without hiding the page.",
  product_json_ld: `State the product of each product page in its HTML: ${product}`,
  offer_clarity:
    'Give the product an offer: `"offers":{"@type":"Offer","price":"19.90","priceCurrency":"USD","availability":"https://schema.org/InStock","url":"https://…"}`; the price with a dot and no currency sign.',
  price_consistent: "State the price that the page shows; render both from the same value.",
  shipping_returns:
    'Add to the offer `"shippingDetails":{"@type":"OfferShippingDetails",…}` and `"hasMerchantReturnPolicy":{"@type":"MerchantReturnPolicy","applicableCountry":"US","returnPolicyCategory":"https://schema.org/MerchantReturnFiniteReturnWindow","merchantReturnDays":30}`.',
  variants_expressed:
    'State the variants: `"@type":"ProductGroup","variesBy":["https://schema.org/size"],"hasVariant":[{"@type":"Product","sku":"…","size":"M","offers":{…}}]`.',
  sitemap_products:
    "Serve /sitemap.xml with the address of every product, and name it in robots.txt: Sitemap: https://…",
  product_feed: "Open the platform's public catalogue, or link a product feed from the home page.",
  search_usable:
    'Let the search answer in HTML at an address such as /search?q=…, in a `<form role="search">`, and declare it: `{"@type":"WebSite","potentialAction":{"@type":"SearchAction","target":"https://…/search?q={search_term_string}","query-input":"required name=search_term_string"}}`.',
  organization_identity:
    'Say on the home page who sells: `{"@type":"OnlineStore","name":"…","url":"https://…","contactPoint":{…}}`, with links to contact, terms and privacy.',
  llms_txt:
    "Serve /llms.txt: a heading with the shop's name, a line about it, and links to products, policies and contact.",
  markdown_negotiation:
    "Answer `Accept: text/markdown` with Markdown and `Vary: Accept`, or link it: `<link rel=alternate type=text/markdown href=…>`.",
  cart_api:
    "Let a product be added by a form or by the platform's cart API, without a session that only scripts can make.",
  guest_checkout: "Offer checkout as a guest beside the login; ask for an account after the order.",
  payment_methods:
    "Offer a method that a program can complete: a card form, Shop Pay or Link, a UCP payment handler, or x402; wallets of a device and pay-later pages need a person.",
  no_captcha: "Ask for a captcha only after behaviour that calls for it, and not on cart and checkout of everybody.",
  form_recognizable:
    "Mark the fields of the checkout with autofill tokens: `autocomplete=email`, `name`, `street-address`, `postal-code`, `country`.",
  total_before_payment: "Show shipping, tax and total before the payment step."
} as const satisfies Partial<Record<QuestionId, string>>

const shopify = "Shopify"
type Fixes = Partial<Record<keyof typeof general, string>>
const byPlatform: Readonly<Record<string, Fixes>> = {
  shopify: {
    robots_allows_agents: `${shopify}: add the group in \`templates/robots.txt.liquid\`.`,
    training_policy_stated: `${shopify}: add the group in \`templates/robots.txt.liquid\`.`,
    content_signals: `${shopify}: add the line in \`templates/robots.txt.liquid\`.`,
    product_json_ld: `${shopify}: put \`{{ product | structured_data }}\` into the product template.`,
    offer_clarity: `${shopify}: \`{{ product | structured_data }}\` states offers too.`,
    variants_expressed: `${shopify}: \`{{ product | structured_data }}\` states a ProductGroup with its variants.`,
    no_walls: `${shopify}: switch off the storefront password and the age-check app's overlay for product pages.`,
    guest_checkout: `${shopify}: Settings, Customer accounts: do not require sign-in before checkout.`,
    product_feed: `${shopify}: let the theme or firewall answer \`/products.json\`.`,
    cart_api: `${shopify}: let the firewall answer \`/cart.js\` and \`/products.json\`.`,
    payment_methods: `${shopify}: activate Shopify Payments with Shop Pay.`
  },
  woocommerce: {
    product_json_ld:
      "WooCommerce: its own structured data comes with `do_action( 'woocommerce_single_product_summary' )`; add brand and GTIN with `woocommerce_structured_data_product`.",
    guest_checkout: "WooCommerce: Settings, Accounts & Privacy: allow customers to place orders without an account.",
    product_feed: "WooCommerce: let security plugins pass `/wp-json/wc/store/v1/products`.",
    cart_api: "WooCommerce: let security plugins pass `/wp-json/wc/store/v1/cart`.",
    no_captcha: "WooCommerce: switch the captcha plugin off for the checkout form.",
    robots_allows_agents: "WordPress: add the group with the filter `robots_txt` or a file in the web root."
  },
  magento: {
    product_json_ld:
      "Magento: it writes microdata; add JSON-LD in `Magento_Catalog/templates/product/view/` of the theme.",
    guest_checkout: "Magento: Stores, Configuration, Sales, Checkout: Allow Guest Checkout.",
    no_captcha: "Magento: Stores, Configuration, Security, Google reCAPTCHA Storefront: off for checkout.",
    sitemap_products: "Magento: Stores, Configuration, Catalog, XML Sitemap: generate it and submit it to robots.txt."
  },
  magento1: {
    product_json_ld: "Magento 1: add JSON-LD in `template/catalog/product/view.phtml` of the theme.",
    guest_checkout:
      "Magento 1: System, Configuration, Sales, Checkout: Allow Guest Checkout, and for downloads Catalog, Downloadable Product Options: Disable Guest Checkout: No.",
    no_captcha: "Magento 1: System, Configuration, Customers, Customer Configuration, CAPTCHA: off for checkout.",
    sitemap_products:
      "Magento 1: Catalog, Google Sitemap: add and generate it; System, Configuration, Catalog: generate it daily."
  },
  drupal_commerce: {
    guest_checkout:
      "Drupal Commerce: Configuration, Checkout flows: allow guests in the pane that logs in, and give anonymous users the permission to access checkout."
  },
  bigcommerce: {
    guest_checkout: "BigCommerce: Settings, Checkout: enable guest checkout.",
    robots_allows_agents: "BigCommerce: Settings, Website, Search engine robots."
  },
  prestashop: {
    guest_checkout: "PrestaShop: Shop Parameters, Order Settings: Enable guest checkout.",
    robots_allows_agents: "PrestaShop: Shop Parameters, Traffic & SEO: generate robots.txt, then add the group."
  },
  shopware: { guest_checkout: "Shopware: Settings, Log-in & sign-up: do not force an account." },
  evershop: {
    product_json_ld: "EverShop: add the script to the product page in an extension (`pages/frontStore/productView`).",
    payment_methods: "EverShop: Settings, Payment: enable a payment method."
  }
}
