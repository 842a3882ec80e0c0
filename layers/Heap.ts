import { Effect, Layer } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const collect = Effect.try(() => {
  setFlagsFromString("--expose-gc")
  const gc: unknown = runInNewContext("globalThis.gc")
  if (typeof gc === "function") gc({ type: "major", execution: "sync", flavor: "last-resort" })
})

/** What is said on the command line about young garbage would hold for threads, too, whatever their limits say. */
const leaveThreadsTheirLimits = Effect.try(() => setFlagsFromString("--max-semi-space-size=0"))

/**
 * Collects the garbage of the start, once, when everything stands: without this a server at rest would keep the room that its start
 * took. How much room there is for garbage is said on the command line, for young (`--max-semi-space-size`) and for old one
 * (`--heap-growing-percent`, of what lives; by itself the runtime would give a tenth, and mark everything every second or two under
 * load, beside the database on the same processors): the more, the less often it is collected, and the more memory stays with a
 * server that was busy once. Beside it the C library is told to give large buffers back as soon as they are free (`MALLOC_*`).
 */
export const layer = Layer.effectDiscard(Effect.all([Effect.ignore(collect), Effect.ignore(leaveThreadsTheirLimits)]))
