import { Config, Duration } from "effect"
import { type DurationRange, durationRange } from "../DurationSetting.ts"

/** How long a simulated settlement takes. */
export type Delay = DurationRange

/** `TURNPIKE_SETTLEMENT_DELAY`. */
export const config: Config.Config<Delay> = durationRange("TURNPIKE_SETTLEMENT_DELAY").pipe(
  Config.withDefault({ shortest: Duration.seconds(2), longest: Duration.seconds(5) })
)
