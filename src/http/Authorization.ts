import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { Authorization, CurrentPrincipal, WaitsForOthers } from "#api/Authorization.ts"
import * as Admission from "./Admission.ts"
import { CurrentExchange, sourceOf } from "./Exchange.ts"
import { Patience } from "./Patience.ts"
import * as ReadableBody from "./ReadableBody.ts"

/** Who is calling, within the limits of that caller. */
export const layer = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const admit = yield* Admission.make
    const { limited } = yield* Patience
    return Authorization.of({
      bearer: Effect.fnUntraced(function* (operation, { endpoint }) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const source = sourceOf(request)
        const principal = yield* limited(admit(source, endpoint.annotations, yield* CurrentExchange))
        yield* ReadableBody.check(request, source)
        const permitted = Effect.provideService(operation, CurrentPrincipal, principal)
        return yield* Context.get(endpoint.annotations, WaitsForOthers) ? permitted : limited(permitted)
      })
    })
  })
)
