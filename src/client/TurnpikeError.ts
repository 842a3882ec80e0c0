import { isObject, quoted } from "./Encoding.ts"
import { peekJson } from "./Body.ts"
import { retryAfter } from "./Time.ts"

/**
 * What an operation was refused with. `code` is the API's own, or `NETWORK_ERROR` and `TIMEOUT` (`status` 0) when no answer
 * came, or `INVALID_ANSWER` when it was none of this API.
 */
// @effect-diagnostics-next-line extendsNativeError:off
export class TurnpikeError extends Error {
  override readonly name = "TurnpikeError"
  readonly code: string
  readonly status: number
  readonly requestId: string | undefined
  readonly details: { readonly [name: string]: unknown }
  /** Seconds after which the call may be made again. */
  readonly retryAfter: number | undefined

  constructor(about: {
    readonly code: string
    readonly message: string
    readonly status?: number
    readonly requestId?: string | undefined
    readonly details?: { readonly [name: string]: unknown }
    readonly retryAfter?: number | undefined
    readonly cause?: unknown
  }) {
    super(about.message, about.cause === undefined ? undefined : { cause: about.cause })
    this.code = about.code
    this.status = about.status ?? 0
    this.requestId = about.requestId
    this.details = about.details ?? {}
    this.retryAfter = about.retryAfter
  }
}

/** The refusal in an answer that is not a success. */
export const refusalIn = async (response: Response, signal: AbortSignal, millis: number): Promise<TurnpikeError> => {
  const problem = await peekJson(response, signal, millis)
  const { status } = response
  const wait = retryAfter(response)
  const code = problem?.["code"]
  const details = problem?.["details"]
  return new TurnpikeError({
    code: typeof code === "string" ? code : "INVALID_ANSWER",
    message: quoted(problem?.["detail"]) || quoted(problem?.["title"]) || `The server answered ${status}`,
    status,
    requestId: response.headers.get("x-request-id") ?? undefined,
    details: isObject(details) ? details : {},
    retryAfter: wait === undefined ? undefined : Math.ceil(wait / 1000)
  })
}
