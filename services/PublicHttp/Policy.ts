import { Context, Duration } from "effect"
import type { OriginRules } from "#domain/OriginUrl.ts"

/** Whom connections may reach, and how they are made. */
export interface ConnectRules extends OriginRules {
  /** Lookup, TCP and TLS together. */
  readonly connectTimeout: Duration.Duration
  /** Name servers (`address:port`) asked instead of the system's. */
  readonly nameServers: ReadonlyArray<string>
}

/** Whom we call, how long we wait and how much we take. */
export interface PublicHttpPolicy extends ConnectRules {
  /** Longest silence of an origin within its body, and longest stall of a caller that takes it. Rounded up to a second. */
  readonly idleTimeout: Duration.Duration
  /** For requests of our own. Callers' requests are counted by whom they are for. */
  readonly connectionsPerOrigin: number
  /** Calls of one endpoint that may be with its origin at once; as many may wait for a place. */
  readonly callsPerEndpoint: number
  /** How many of them one payer may have. */
  readonly callsPerPayer: number
  /** How long a call waits for a place. */
  readonly placeTimeout: Duration.Duration
  /** How long a caller may send nothing of a request that it began. */
  readonly stallTimeout: Duration.Duration
  /** Size of one set of answer headers. */
  readonly headerBytes: number
  /** Largest body `request` returns. */
  readonly bodyBytes: number
}

/** A reference, so a deployment or a test changes it without touching the code. The default calls public addresses only. */
export const PublicHttpPolicy = Context.Reference<PublicHttpPolicy>("turnpike/services/PublicHttp/Policy", {
  defaultValue: () => ({
    allowHosts: [],
    allowLoopback: false,
    ownHosts: [],
    connectTimeout: Duration.seconds(5),
    idleTimeout: Duration.seconds(60),
    connectionsPerOrigin: 256,
    callsPerEndpoint: 256,
    callsPerPayer: 128,
    placeTimeout: Duration.seconds(1),
    stallTimeout: Duration.seconds(10),
    headerBytes: 32_768,
    bodyBytes: 1_048_576,
    nameServers: []
  })
})
