import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

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
      {
        extends: true,
        test: {
          name: "turnpike",
          include: ["test/**/*.test.ts"],
          exclude: ["test/tidy.test.ts", "test/domain/**", "test/bench/**", "**/node_modules/**"],
          globalSetup: ["test/globalSetup.ts"]
        }
      },
      // Pure, so its files share a process and what is loaded in it: to load Effect for each took longer than all of its tests.
      { extends: true, test: { name: "domain", include: ["test/domain/**/*.test.ts"], isolate: false } },
      // The architecture as a test needs no database, so `npm run check` runs it alone.
      { extends: true, test: { name: "tidy", include: ["test/tidy.test.ts"] } }
    ]
  }
})
