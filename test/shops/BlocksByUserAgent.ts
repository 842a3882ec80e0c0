import * as Fixture from "./Fixture.ts"
import { send } from "./Storefront.ts"
import * as WellBuilt from "./WellBuilt.ts"

/** A well-built shop that lets everybody in by its robots.txt, and at its door only those of one kind. */
const openTo = (kind: "browsers" | "agents") =>
  Fixture.open((request, response, base) => {
    const isBrowser = (request.headers["user-agent"] ?? "").startsWith("Mozilla/5.0 (")
    if (isBrowser !== (kind === "browsers") && request.url !== "/robots.txt") {
      return send(
        response,
        403,
        "<html><head><title>403 Forbidden</title></head><body><h1>Forbidden</h1></body></html>"
      )
    }
    void WellBuilt.pages(request, response, base)
  })

/** To those who say that they are a browser. */
export const open = openTo("browsers")
/** To those who say who they are. */
export const openToAgents = openTo("agents")
