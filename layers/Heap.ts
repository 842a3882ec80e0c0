import { Effect, Layer } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const collect = Effect.try(() => {
  setFlagsFromString("--expose-gc")
  const gc: unknown = runInNewContext("globalThis.gc")
  if (typeof gc === "function") gc({ type: "major", execution: "sync", flavor: "last-resort" })
})

/**
 * Collects the garbage of the start, once, when everything stands. Room for much young garbage is what makes a busy server fast
 * (`--max-semi-space-size`), and without this a server at rest would keep the room that its start took.
 */
export const layer = Layer.effectDiscard(Effect.ignore(collect))
