import type { Terms } from "./Terms.ts"

/** Of webhooks and what the server says of itself. */
export const platform: Terms = {}
