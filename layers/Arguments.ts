import { Effect, Layer, Schema } from "effect"

/** Something was written behind the command that starts a server. */
export class ArgumentsUnread extends Schema.TaggedError<ArgumentsUnread>()("ArgumentsUnread", {
  message: Schema.String
}) {}

/** Fails for any argument: passed over, `--port 80` would leave the default in force and nobody told. What is written may be a secret and is not shown. */
export const layer = Layer.effectDiscard(
  Effect.suspend(() =>
    process.argv.length <= 2
      ? Effect.void
      : Effect.fail(
          new ArgumentsUnread({
            message:
              "it takes no arguments. Its settings are in the environment, such as `PORT=4021 npm start`: the README lists them."
          })
        )
  )
)
