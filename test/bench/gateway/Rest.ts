import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { report, say } from "../Bench.ts"
import * as ProcessUse from "./ProcessUse.ts"
import * as Turnpike from "./Turnpike.ts"

const restMillis = 10_000

/** The first start on an empty data directory, then a warm one, and what that one uses while nobody calls. */
export const measureRest = (dataDir: string) =>
  Effect.gen(function* () {
    const first = yield* Effect.scoped(Turnpike.start(dataDir))
    const warm = yield* Turnpike.start(dataDir)
    const postgres = ProcessUse.descendants(warm.pid)
    // The garbage and the compiled code of the start settle first.
    yield* Effect.promise(() => setTimeout(restMillis))
    const before = [ProcessUse.processorSeconds([warm.pid]), ProcessUse.processorSeconds(postgres)] as const
    yield* Effect.promise(() => setTimeout(restMillis))
    const share = (now: number, then: number) => ((now - then) / (restMillis / 1000)) * 100
    say("at rest")
    report("first start until ready", first.startMillis / 1000, 15, "at most", "s")
    report("warm start until ready", warm.startMillis / 1000, 3, "at most", "s")
    report("resident memory of the server", ProcessUse.residentMegabytes(warm.pid), 150, "at most", "MB")
    report("processor use of the server", share(ProcessUse.processorSeconds([warm.pid]), before[0]), 1, "at most", "%")
    const postgresShare = share(ProcessUse.processorSeconds(postgres), before[1])
    say(
      `     Postgres: ${ProcessUse.sharedMegabytes(postgres).toFixed(0)} MB, ${postgresShare.toFixed(1)} % of a processor`
    )
  }).pipe(Effect.scoped)
