import type { Heard } from "./Calls.ts"

/** Tells the server something, where it still listens. */
export const say = (heard: Heard): void => {
  // Why it could not be told does not matter to who ends with the connection.
  if (process.connected) process.send?.(heard, undefined, undefined, () => undefined)
}
