import { Config, DateTime, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { midRate, parsePerDollar, type PerDollar, QuoteCurrency, RateUnavailable } from "#domain/Rate.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { RateSource } from "#services/RateSource.ts"
import * as RecentAnswers from "#services/RecentAnswers.ts"
import * as DurationSetting from "./DurationSetting.ts"
import * as Setting from "./Setting.ts"

/** A server that tells what a dollar is worth. */
export interface RatesOptions {
  readonly url: URL
  readonly authorization: Option.Option<Redacted.Redacted>
  /** How old rates may be by which something is promised. */
  readonly maxAge: Duration.Duration
}

/**
 * `TURNPIKE_RATES_URL`, and if wanted `TURNPIKE_RATES_AUTHORIZATION` (the whole header, such as `Bearer …`) and
 * `TURNPIKE_RATES_MAX_AGE` (60 seconds).
 */
export const config: Config.Config<RatesOptions> = Config.all({
  url: Config.URL("TURNPIKE_RATES_URL"),
  authorization: Config.option(Setting.header("TURNPIKE_RATES_AUTHORIZATION")),
  maxAge: DurationSetting.duration("TURNPIKE_RATES_MAX_AGE").pipe(Config.withDefault(Duration.seconds(60)))
})

/** The pause between two questions, whatever the first one brought. */
const pause = Duration.seconds(5)
const timeout = Duration.seconds(3)

/** What a dollar was worth at a time. */
interface Rates {
  readonly values: PerDollar
  readonly at: Date
}

/** What the server said is of no use; `reason` never shows its address, which may carry a key. */
class RatesRefused extends Schema.TaggedError<RatesRefused>()("RatesRefused", { reason: Schema.String }) {}

/**
 * Rates of any server that answers `{"base": "USD", "as_of": "2026-01-02T03:04:05Z", "rates": {"EUR": "0.92", …}}` to a GET, with
 * decimals as text or numbers. It is asked at most every 5 seconds, once for all who wait; between answers, and while it gives
 * none, its last ones count until they are too old.
 */
export const make = Effect.fnUntraced(function* ({ authorization, maxAge, url }: RatesOptions) {
  const http = yield* PublicHttp
  const credential = Option.match(authorization, {
    onNone: () => [],
    onSome: (value) => ["authorization", Redacted.value(value)]
  })
  const headers = ["accept", "application/json", ...credential]

  const ask = Effect.gen(function* () {
    const answer = yield* http
      .request({ method: "GET", url, headers, body: null, timeout })
      .pipe(Effect.mapError(({ reason }) => new RatesRefused({ reason: `no answer: ${reason}` })))
    if (answer.status !== 200) return yield* new RatesRefused({ reason: `it answered ${answer.status}` })
    return yield* ratesIn(new TextDecoder().decode(answer.body))
  })
  let last: Rates | undefined
  const asked = ask.pipe(
    Effect.tap((rates) => Effect.sync(() => (last = rates))),
    Effect.catch(({ reason }) => Effect.as(Effect.logWarning("There are no new rates", { reason }), last))
  )
  const rates = yield* RecentAnswers.make(() => asked, { capacity: 1, longest: pause })

  const mid = Effect.fn("RateSourceHttp.mid")(function* (from: QuoteCurrency, to: QuoteCurrency) {
    const known = yield* rates.get("rates")
    const rate =
      known !== undefined && isRecent(known.at, yield* DateTime.nowAsDate, maxAge)
        ? midRate(known.values, from, to)
        : undefined
    if (rate !== undefined) return rate
    const retry_after = Math.ceil(Duration.toSeconds(pause))
    return yield* new RateUnavailable({ from_currency: from, to_currency: to, retry_after })
  })

  return RateSource.of({ mid })
})

export const layer = (options: RatesOptions) => Layer.effect(RateSource, make(options))

// Rates of the future are as little to be trusted as old ones.
const isRecent = (at: Date, now: Date, maxAge: Duration.Duration) =>
  Math.abs(now.getTime() - at.getTime()) <= Duration.toMillis(maxAge)

const Answer = Schema.fromJsonString(
  Schema.Struct({
    base: Schema.Literal("USD"),
    as_of: Schema.String,
    rates: Schema.Record(Schema.String, Schema.Unknown)
  })
)
const decodeAnswer = Schema.decodeUnknownOption(Answer)

/** A moment with its zone: without one it could be any of a day's hours. */
const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** What an answer says; refused as a whole when one of the values that count is absurd. */
const ratesIn = Effect.fnUntraced(function* (text: string) {
  const answer = Option.getOrUndefined(decodeAnswer(text))
  if (answer === undefined) return yield* new RatesRefused({ reason: "it did not answer with rates of a dollar" })
  const at = moment.test(answer.as_of) ? Option.getOrUndefined(DateTime.make(answer.as_of)) : undefined
  if (at === undefined) return yield* new RatesRefused({ reason: "it does not say of when its rates are" })
  const values: { [currency in QuoteCurrency]?: string } = { USD: "1" }
  for (const currency of QuoteCurrency.literals) {
    const value = answer.rates[currency]
    if (value === undefined) continue
    const decimal = typeof value === "number" || typeof value === "string" ? String(value) : ""
    const worth = parsePerDollar(decimal)
    if (worth === undefined || (currency === "USD" && worth !== parsePerDollar("1"))) {
      return yield* new RatesRefused({ reason: `its rate of ${currency} is absurd` })
    }
    values[currency] = decimal
  }
  return { values, at: DateTime.toDate(at) } satisfies Rates
})
