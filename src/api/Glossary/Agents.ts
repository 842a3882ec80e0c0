import type { Terms } from "./Terms.ts"

/** Of agents, their keys, sessions and channel, accounts, API keys, users and portal tokens. */
export const agents: Terms = {}
