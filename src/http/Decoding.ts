import { Effect, Iterable, Layer, type SchemaIssue } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { Decoding } from "#api/Api.ts"
import { Authorization } from "#api/Authorization.ts"
import { AmountTooSmall, InvalidAmount, UnholdableAmount } from "#api/Refusals.ts"
import { amountRefusals } from "#domain/Money.ts"
import { QuoteCurrency, tooManyDecimals } from "#domain/Quote.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { wrongs } from "./Decoding/Wording.ts"
import { sourceOf } from "./Exchange.ts"
import * as ReadableBody from "./ReadableBody.ts"

/** How many wrong fields are named at a time. */
const named = 50

/** What is wrong with the request, at which fields. */
const errorsOf = (issue: SchemaIssue.Issue) => [...Iterable.take(wrongs(issue), named)]

const amountClasses = new Map<string, typeof InvalidAmount | typeof AmountTooSmall | typeof UnholdableAmount>([
  [amountRefusals.INVALID_AMOUNT, InvalidAmount],
  ...QuoteCurrency.literals.map((currency) => [tooManyDecimals(currency), InvalidAmount] as const),
  [amountRefusals.AMOUNT_TOO_SMALL, AmountTooSmall],
  [amountRefusals.AMOUNT_TOO_LARGE, UnholdableAmount]
])

/** The refusal of a body: an amount that is the only thing wrong with it has a code of its own. */
const refuseBody = (errors: InvalidRequest["errors"]) => {
  const [first] = errors
  const Amount = first === undefined ? undefined : amountClasses.get(first.message)
  return first !== undefined && Amount !== undefined && errors.every(({ message }) => amountClasses.has(message))
    ? new Amount({ param: first.path, message: first.message })
    : new InvalidRequest({ errors })
}

/** No parameter is a list: what is wrong with one that is given twice is that. */
const eachOnce = (url: string, errors: InvalidRequest["errors"]): InvalidRequest["errors"] => {
  const given = new URLSearchParams(url.replace(/^[^?]*/, ""))
  return errors.map(({ path, message }) => ({
    path,
    message: given.getAll(path).length > 1 ? "must be given once" : message
  }))
}

/** Why a body that is not what its operation takes is refused. */
export const bodyRefusal = (issue: SchemaIssue.Issue) => refuseBody(errorsOf(issue))

/** What an id in a path of these groups, or of these operations, is of, where that is not what the group is called. */
const otherwise: { readonly [name: string]: string } = {
  agent_sessions: "agent",
  agent_channel: "agent",
  "scanner_reports.scan": "scan",
  "scanner_reports.test": "shopping_test"
}

/** An id that cannot be one names nothing, which is what an id of nobody's says too. Beside the group's own a path names whose it is. */
const nothingThere = (
  group: string,
  endpoint: string,
  params: HttpRouter.RouteContext["Service"]["params"],
  [wrong]: InvalidRequest["errors"]
) => {
  const name = wrong?.path ?? "id"
  const ofGroup = otherwise[`${group}.${endpoint}`] ?? otherwise[group] ?? group.replace(/(?<=ch)es$|s$/, "")
  const resource = name === "id" ? ofGroup : name.replace(/Id$/, "")
  return new NotFound({ resource, id: params[name] ?? "" })
}

export const layer = Layer.succeed(Decoding, (operation, { endpoint, group }) => {
  // Behind `Authorization` the body is read only for callers who may call.
  const guarded = endpoint.middlewares.has(Authorization)
  const readable = guarded
    ? operation
    : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
        Effect.andThen(ReadableBody.check(request, sourceOf(request)), operation)
      )
  return Effect.catch(
    readable,
    Effect.fnUntraced(function* (error) {
      if (!HttpApiError.HttpApiSchemaError.is(error)) return yield* Effect.fail(error)
      switch (error.kind) {
        case "Params": {
          const { params } = yield* HttpRouter.RouteContext
          return yield* nothingThere(group.identifier, endpoint.identifier, params, errorsOf(error.cause.issue))
        }
        case "Payload":
          return yield* bodyRefusal(error.cause.issue)
        case "Query": {
          const { url } = yield* HttpServerRequest.HttpServerRequest
          return yield* new InvalidRequest({ errors: eachOnce(url, errorsOf(error.cause.issue)) })
        }
        case "Headers":
          return yield* new InvalidRequest({ errors: errorsOf(error.cause.issue) })
        // What we answer ourselves does not fit our own contract.
        default:
          return yield* Effect.die(error)
      }
    })
  )
})
