// The program of the process that handles what strangers wrote: it reads their pages, and drives the browser that shows them. It has
// nothing of the server's but what it is asked, and whatever goes wrong here ends it and nothing else.
import { Effect, Layer } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import * as Serving from "./Serving.ts"

/** Its own folder and the browser's program; empty where there is none. */
const [home = "", chromium = ""] = process.argv.slice(2)

/** When memory is short, the system ends this before the server. Not every system has such a file. */
const endMeFirst = Effect.ignore(Effect.try(() => writeFileSync("/proc/self/oom_score_adj", "500")))

// What is said on the command line would hold for the thread that reads as well, whatever its own limit says.
setFlagsFromString("--max-old-space-size=0")
setFlagsFromString("--max-semi-space-size=0")
await Effect.runPromise(Effect.scoped(Effect.andThen(endMeFirst, Layer.build(Serving.layer(chromium)))))
// A server that was killed removes nothing.
if (home !== "") rmSync(home, { recursive: true, force: true, maxRetries: 3 })
process.exit()
