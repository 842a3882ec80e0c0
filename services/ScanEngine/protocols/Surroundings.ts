import type { PageFacts } from "#domain/page/PageFacts.ts"
import type { Answer } from "#domain/Rubric.ts"
import type { ProtocolResult } from "#domain/Scan.ts"
import type { SiteAnswer, Visit } from "../../SiteVisits.ts"

/** What the protocols' probes may know of the site before they call anything. */
export interface Surroundings {
  readonly visit: Visit
  /** Undefined when it could not be read. */
  readonly home: { readonly answer: SiteAnswer; readonly facts: PageFacts } | undefined
  /** The platform by its fingerprints, such as `shopify`. */
  readonly platform: string | null
  /** Whether paths that do not exist answer 200, so that only a body of the right shape counts. */
  readonly hasSoftNotFound: boolean
  /** Whether it is a shop for people, to which some protocols do not apply. */
  readonly isRetail: boolean
}

/** What the probes found. */
export interface ProtocolFindings {
  readonly results: ReadonlyArray<ProtocolResult>
  /** One for each question of the group `protocol`. */
  readonly answers: ReadonlyArray<Answer>
  /** Names of the payment handlers that a UCP profile declares. */
  readonly paymentHandlers: ReadonlyArray<string>
  /** There when a UCP service answered in protocol. */
  readonly ucp: UcpAccess | undefined
}

/** A UCP service that can be called: where, over what, in which release. */
export interface UcpAccess {
  readonly version: string
  readonly transport: "mcp" | "rest"
  readonly endpoint: URL
  /** Operations by the names of their tools, whatever the transport. */
  readonly tools: ReadonlyArray<string>
}
