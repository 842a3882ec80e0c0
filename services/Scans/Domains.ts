import { Effect, Result } from "effect"
import { DomainNotAllowed, merchantDomain } from "#domain/MerchantDomain.ts"
import { PublicHttpPolicy } from "../PublicHttp/Policy.ts"

const longestShown = 255

/** The one spelling of a domain that may be looked at in this deployment. */
export const make = Effect.map(PublicHttpPolicy, (rules) => (given: string) => {
  const domain = merchantDomain(given, rules)
  return Result.isSuccess(domain)
    ? Effect.succeed(domain.success)
    : Effect.fail(new DomainNotAllowed({ domain: given.slice(0, longestShown), reason: domain.failure }))
})
