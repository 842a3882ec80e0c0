import { Effect, Layer } from "effect"
import { Bootstrap } from "#services/Bootstrap.ts"
import { ScannerSales } from "#services/ScannerSales.ts"

/** Puts the scanner's operations on sale, for the first tenant. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const bootstrap = yield* Bootstrap
    const sales = yield* ScannerSales
    yield* sales.open(yield* bootstrap.ensure)
  })
)
