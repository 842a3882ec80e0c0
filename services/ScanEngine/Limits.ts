import { Context, Duration } from "effect"
import type { VisitLimits } from "../SiteVisits.ts"

/** What a scan may cost the site and us. A reference, so a deployment or a test changes it without touching the code. */
export const ScanLimits = Context.Reference<VisitLimits>("turnpike/services/ScanEngine/Limits", {
  defaultValue: () => ({
    requests: 24,
    duration: Duration.seconds(8),
    perRequest: Duration.seconds(4),
    pace: Duration.millis(40),
    concurrency: 4
  })
})
