import type { Terms } from "./Terms.ts"

/** Of endpoints, payments, quotes of price, statistics, discovery and the facilitator. */
export const gateway: Terms = {}
