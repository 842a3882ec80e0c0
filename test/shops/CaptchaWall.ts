import * as Fixture from "./Fixture.ts"
import { page, send } from "./Storefront.ts"
import * as WellBuilt from "./WellBuilt.ts"

const challenge = `<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title></head>
<body><noscript>Enable JavaScript and cookies to continue</noscript><script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script></body></html>`

const widget = `<div class="cf-turnstile" data-sitekey="1x00000000000000000000AA"></div><script src="https://challenges.cloudflare.com/turnstile/v0/api.js" async defer></script>`
const invisible = `<script src="https://www.google.com/recaptcha/api.js?render=6Lc_aX0UAAAAABx7"></script>`

/**
 * A well-built shop with a wall: before everything, before products only, or as a captcha on the checkout, which has to be solved
 * or only watches. robots.txt lets everybody in all the same.
 */
export const open = (where: "everywhere" | "products" | "checkout" | "watching") =>
  Fixture.open((request, response, base) => {
    const { pathname } = new URL(request.url ?? "/", base)
    const isWalled =
      (where === "everywhere" && pathname !== "/robots.txt") ||
      (where === "products" && pathname.startsWith("/products/"))
    if (isWalled) {
      return send(response, 403, challenge, {
        "content-type": "text/html; charset=UTF-8",
        server: "cloudflare",
        "cf-ray": "8f2a1b3c4d5e6f70-FRA",
        "cf-mitigated": "challenge"
      })
    }
    if (pathname === "/checkout" && (where === "checkout" || where === "watching")) {
      const more = where === "checkout" ? widget : invisible
      return send(response, 200, page(base, "Checkout", WellBuilt.checkoutBody(more)))
    }
    if (!WellBuilt.answer(request, response, base)) WellBuilt.missing(response, base)
  })
