import { Layer } from "effect"
import * as Postgres from "#layers/Postgres.ts"
import * as RateTable from "#layers/RateTable.ts"
import { Ledger } from "#services/Ledger.ts"
import { Quotes } from "#services/Quotes.ts"
import type { RateSource } from "#services/RateSource.ts"

/** Quotes at these rates, over a ledger on a database of their own. */
export const quotesAt = (rates: Layer.Layer<RateSource>) =>
  Quotes.layer.pipe(Layer.provide(rates), Layer.provideMerge(Ledger.layer), Layer.provideMerge(Postgres.layerTest))

/** At the sandbox's rates. */
export const platform = quotesAt(RateTable.layer)
