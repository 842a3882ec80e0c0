import * as Fixture from "./Fixture.ts"
import { page, send } from "./Storefront.ts"
import * as WellBuilt from "./WellBuilt.ts"

/** A shop that answers every path with success. It has neither llms.txt nor sitemap, although these paths answer, too. */
export const open = Fixture.open((request, response, base) => {
  const { pathname } = new URL(request.url ?? "/", base)
  const isThere = !/^\/(?:llms\.txt|sitemap\.xml|cart|checkout)$/.test(pathname)
  if (isThere && WellBuilt.answer(request, response, base)) return
  send(
    response,
    200,
    page(base, "Paper and brass for desks", "<p>Let us show you around. Take a look at what is new.</p>")
  )
})
