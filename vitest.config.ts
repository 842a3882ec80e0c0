import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** Tests of what serves and what it is made of: all but those that look at what is a whole process's, its metrics, time and memory. */
const ofTheService = [
  "test/http/**/!(Edge|GatewayForwarding|TimeSet|X402Weather).test.ts",
  "test/services/**/!(ChainSettlementsOperator|LedgerAway|LedgerPresence|SiteVisitsHostile|TimeSet|WebhookDeliveriesBehind).test.ts"
]

export default defineConfig({
  test: {
    environment: "node",
    pool: "forks",
    // Files wait for databases, disks and timers half of the time: two at once also where there are two processors.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Far above what any test takes on a quiet machine: a busy one must not fail them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default"],
    projects: [
      // Files share a process and what is loaded in it: to load the service for each took half as long again as its tests.
      {
        extends: true,
        test: { name: "turnpike", include: ofTheService, globalSetup: ["test/globalSetup.ts"], isolate: false }
      },
      // Everything else: each file has a process of its own.
      {
        extends: true,
        test: {
          name: "alone",
          include: ["test/**/*.test.ts"],
          exclude: [...ofTheService, "test/{domain,bench}/**", "test/tidy.test.ts", "**/node_modules/**"],
          globalSetup: ["test/globalSetup.ts"]
        }
      },
      // Pure: needs no database.
      { extends: true, test: { name: "domain", include: ["test/domain/**/*.test.ts"], isolate: false } },
      // The architecture as a test needs no database, so `npm run check` runs it alone.
      { extends: true, test: { name: "tidy", include: ["test/tidy.test.ts"] } }
    ]
  }
})
