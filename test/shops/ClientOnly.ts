import * as Fixture from "./Fixture.ts"
import { send } from "./Storefront.ts"
import * as WellBuilt from "./WellBuilt.ts"

const shell = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Paper &amp; Brass</title>
<script type="module" src="/assets/app-4f21.js"></script></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`

/** A shop whose pages are empty until its scripts have run. Its files for crawlers are in order. */
export const open = Fixture.open((request, response, base) => {
  const { pathname } = new URL(request.url ?? "/", base)
  if (/^\/(?:$|products\/|collections\/|cart$|checkout$|search$|policies\/|contact$)/.test(pathname))
    return send(response, 200, shell)
  if (!WellBuilt.answer(request, response, base)) WellBuilt.missing(response, base)
})
