import { isObject, quoted, isText } from "./Encoding.ts"
import { peekJson } from "./Body.ts"
import { retryAfter } from "./Time.ts"

/**
 * What an operation was refused with. `code` is the API's own, or `NETWORK_ERROR` and `TIMEOUT` (`status` 0) when no answer
 * came, or `INVALID_ANSWER` when it was none of this API.
 */
// @effect-diagnostics-next-line extendsNativeError:off
export class TurnpikeError extends Error {
  override readonly name = "TurnpikeError"
  declare readonly code: string
  declare readonly status: number
  declare readonly requestId: string | undefined
  declare readonly details: { readonly [name: string]: unknown }
  /** Seconds after which the call may be made again. */
  declare readonly retryAfter: number | undefined

  constructor(about: {
    readonly code: string
    readonly message: string
    readonly status?: number
    readonly requestId?: string | undefined
    readonly details?: { readonly [name: string]: unknown }
    readonly retryAfter?: number | undefined
    readonly cause?: unknown
  }) {
    const { cause, message, ...said } = about
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, { status: 0, details: {}, ...said })
  }
}

/** That no answer came, or none of this API: what the API does not say itself. */
export const failure = (code: string, message: string, cause?: unknown, status = 0): TurnpikeError =>
  new TurnpikeError({ code, message, status, cause })

/** The refusal in an answer that is not a success. */
export const refusalIn = async (response: Response, signal: AbortSignal, millis: number): Promise<TurnpikeError> => {
  const problem = await peekJson(response, signal, millis)
  // Where a redirect leads nobody is shown the key, so that it is no answer. Browsers hide its status.
  const status = response.status < 400 ? 0 : response.status
  const wait = retryAfter(response)
  const code = problem?.["code"]
  const details = problem?.["details"]
  return new TurnpikeError({
    code: isText(code) ? code : status ? "INVALID_ANSWER" : "NETWORK_ERROR",
    message:
      quoted(problem?.["detail"]) || quoted(problem?.["title"]) || `The server answered ${status || "with a redirect"}`,
    status,
    requestId: response.headers.get("x-request-id") ?? undefined,
    details: isObject(details) ? details : {},
    retryAfter: wait === undefined ? undefined : Math.ceil(wait / 1000)
  })
}
