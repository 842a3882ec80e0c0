import * as Fixture from "./Fixture.ts"
import { page, send } from "./Storefront.ts"
import * as WellBuilt from "./WellBuilt.ts"

const login = `<p>Please log in to check out.</p><form action="/account/login" method="post">
<label for="email">Email</label><input id="email" type="email" name="email" autocomplete="email">
<label for="password">Password</label><input id="password" type="password" name="password" autocomplete="current-password">
<button type="submit">Log in</button></form><p><a href="/account/register">Create an account</a></p>`

/** A well-built shop whose checkout is for members only: it sends strangers to the login. */
export const open = Fixture.open((request, response, base) => {
  const { pathname } = new URL(request.url ?? "/", base)
  if (pathname === "/checkout") return send(response, 302, "", { location: "/account/login?next=/checkout" })
  if (pathname === "/account/login") return send(response, 200, page(base, "Log in", login))
  if (!WellBuilt.answer(request, response, base)) WellBuilt.missing(response, base)
})
