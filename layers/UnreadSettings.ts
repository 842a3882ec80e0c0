import { Effect, Layer } from "effect"
import type { Environment } from "#domain/Principal.ts"
import * as Node from "./Node.ts"

/** Every setting that begins with our name. */
export const settings = [
  "TURNPIKE_ALLOW_HOSTS",
  "TURNPIKE_CHROMIUM",
  "TURNPIKE_CONFIRMATIONS",
  "TURNPIKE_CUSTODY",
  "TURNPIKE_DATABASE_CONNECTIONS",
  "TURNPIKE_DATA_DIR",
  "TURNPIKE_DRAIN_DELAY",
  "TURNPIKE_ENVIRONMENT",
  "TURNPIKE_EVM_NETWORK",
  "TURNPIKE_FACILITATOR_AUTHORIZATION",
  "TURNPIKE_FACILITATOR_URL",
  "TURNPIKE_FEE_BASIS_POINTS",
  "TURNPIKE_LOG_FORMAT",
  "TURNPIKE_LOG_LEVEL",
  "TURNPIKE_MAX_CONNECTIONS",
  "TURNPIKE_MAX_FEE_GWEI",
  "TURNPIKE_MAX_GAS",
  "TURNPIKE_METRICS_TOKEN",
  "TURNPIKE_PUBLIC_URL",
  "TURNPIKE_QUOTE_FEE_BASIS_POINTS",
  "TURNPIKE_QUOTE_SPREAD_BASIS_POINTS",
  "TURNPIKE_RATES_AUTHORIZATION",
  "TURNPIKE_RATES_MAX_AGE",
  "TURNPIKE_RATES_URL",
  "TURNPIKE_RATE_LIMIT",
  "TURNPIKE_RELAYER_KEY",
  "TURNPIKE_RPC_URL",
  "TURNPIKE_SCANNER_URL",
  "TURNPIKE_SETTLEMENT_AUTHORIZATION",
  "TURNPIKE_SETTLEMENT_DELAY",
  "TURNPIKE_SETTLEMENT_URL",
  "TURNPIKE_STUCK_AFTER",
  "TURNPIKE_TRUSTED_PROXIES"
]

/** Kubernetes gives these to everybody beside a service that is called turnpike; the template is between our tests. */
const ofOthers = /^TURNPIKE_(?:SERVICE_|PORT(?:_|$)|TEST_TEMPLATE$)/

/** Which of the surroundings' names look like settings of ours and are none. */
export const unknownIn = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.filter((name) => /^TURNPIKE_/i.test(name) && !settings.includes(name) && !ofOthers.test(name)).toSorted()

/** Settings that only one environment reads. Whoever sets one may take this for a server of the other. */
const ofOneEnvironment = {
  live: [
    "TURNPIKE_CONFIRMATIONS",
    "TURNPIKE_CUSTODY",
    "TURNPIKE_EVM_NETWORK",
    "TURNPIKE_FACILITATOR_AUTHORIZATION",
    "TURNPIKE_FACILITATOR_URL",
    "TURNPIKE_MAX_FEE_GWEI",
    "TURNPIKE_MAX_GAS",
    "TURNPIKE_RATES_AUTHORIZATION",
    "TURNPIKE_RATES_MAX_AGE",
    "TURNPIKE_RATES_URL",
    "TURNPIKE_RELAYER_KEY",
    "TURNPIKE_RPC_URL",
    "TURNPIKE_SETTLEMENT_AUTHORIZATION",
    "TURNPIKE_SETTLEMENT_URL",
    "TURNPIKE_STUCK_AFTER"
  ],
  sandbox: ["TURNPIKE_SETTLEMENT_DELAY"]
} satisfies Record<Environment, ReadonlyArray<string>>

/** Which of them are for the other environment only. */
export const idleIn = (names: ReadonlyArray<string>, environment: Environment): ReadonlyArray<string> =>
  ofOneEnvironment[environment === "live" ? "sandbox" : "live"].filter((name) => names.includes(name))

/**
 * Says which settings nobody reads: one that is misspelt would be missed by nobody, and its default hold in silence; and a server that was
 * meant to be live would hand out money of the sandbox.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const surroundings = Object.entries(process.env)
    for (const name of unknownIn(surroundings.map(([name]) => name)))
      yield* Effect.logWarning(`${name.slice(0, 100)} is no setting of this version, and is passed over`)
    const environment = yield* Node.environment
    // Files of settings name some only to leave them empty.
    const given = surroundings.filter(([, value]) => value?.trim() !== "").map(([name]) => name)
    const idle = idleIn(given, environment)
    if (idle.length === 0) return
    const other = environment === "live" ? "the sandbox" : "live servers"
    yield* Effect.logWarning(
      `This server is ${environment} (TURNPIKE_ENVIRONMENT). Passed over, as ${other} alone read it: ${idle.join(", ")}`
    )
  })
)
