import { Config, Effect, Layer, Option, Redacted } from "effect"
import { Secrets } from "#services/Secrets.ts"
import * as BusNats from "./BusNats.ts"
import * as BusPostgres from "./BusPostgres.ts"
import * as Nats from "./Nats.ts"

const over = (database: typeof BusPostgres.layer | typeof BusPostgres.layerVisitor) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const url = Option.filter(
        yield* Config.option(Config.Redacted("NATS_URL")),
        (named) => Redacted.value(named) !== ""
      )
      return Option.isNone(url)
        ? database
        : BusNats.layer.pipe(Layer.provide(Secrets.layer), Layer.provideMerge(Nats.layer(url.value)))
    })
  )

/** The bus between the processes of a database: NATS where `NATS_URL` names one, otherwise the database itself. */
export const layer = over(BusPostgres.layer)
/** The same for a command. */
export const layerVisitor = over(BusPostgres.layerVisitor)
