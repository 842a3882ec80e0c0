import { Context, type Effect, type Scope } from "effect"
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** A port: the listening socket of this process, before any framework reads from it. */
export class HttpListener extends Context.Service<
  HttpListener,
  {
    readonly server: Server
    /**
     * Names who sees every request first; true when it took the request. Before that every request is answered 503. When the
     * scope ends the listener closes: requests that are under way finish before the services they need are gone.
     */
    intercept(
      first: (request: IncomingMessage, response: ServerResponse) => boolean
    ): Effect.Effect<void, never, Scope.Scope>
    /** Runs when the process was asked to stop, while what is under way is waited for: ends what would not end by itself. */
    onDrain(end: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope>
    /** True from the moment the process was asked to stop. */
    readonly stopping: () => boolean
  }
>()("turnpike/services/HttpListener") {}
