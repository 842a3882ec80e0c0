import { Console, Effect } from "effect"
import { CliOutput } from "effect/cli"

/** Help that was asked for is an answer. Under a command that is written wrongly it is none, and stays out of where answers go. */
export const layer = CliOutput.layerPresenter({
  present: (event) => {
    const presented = CliOutput.defaultPresenter.present(event)
    if (event._tag !== "InvalidInvocation") return presented
    return Effect.updateService(presented, Console.Console, (terminal) => ({
      ...terminal,
      log: (...parts: ReadonlyArray<unknown>) => terminal.error(...parts)
    }))
  }
})
