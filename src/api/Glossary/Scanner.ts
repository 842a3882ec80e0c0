import type { Terms } from "./Terms.ts"

/** Of scans, tests of shops, batches, reports, keys and credits of the scanner. */
export const scanner: Terms = {}
