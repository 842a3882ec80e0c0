import { Context, type Effect } from "effect"
import type { QuoteCurrency, RatesNotConfigured, RateUnavailable } from "#domain/Rate.ts"

/** A port: what currencies are worth now, before anybody earns on it. */
export class RateSource extends Context.Service<
  RateSource,
  {
    /** The worth of one unit of `from` in `to`, in parts of `rateUnit` and rounded down; `from` and `to` differ. */
    mid(from: QuoteCurrency, to: QuoteCurrency): Effect.Effect<bigint, RateUnavailable | RatesNotConfigured>
  }
>()("turnpike/services/RateSource") {}
