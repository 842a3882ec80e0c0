import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { Cause, type Context, Effect, Exit, Result, Schema } from "effect"
import { isRefusal, type Refusal } from "#api/Problems.ts"
import { RequestTimeout } from "#api/Refusals.ts"
import type { Principal } from "#domain/Principal.ts"
import { InvalidRequest } from "#domain/Refusal.ts"
import { IdempotencyKey } from "#domain/Text.ts"
import { Deployment } from "#services/Deployment.ts"
import * as Admission from "./Admission.ts"
import { bodyRefusal } from "./Decoding.ts"
import * as Idempotency from "./Idempotency.ts"
import { late, Patience } from "./Patience.ts"
import type * as RawRoutes from "./RawRoutes.ts"
import * as ReadableBody from "./ReadableBody.ts"
import * as Uniform from "./Uniform.ts"

/** What the operation makes of a request: the JSON of the record as it goes out, and whether it is the stored result of an earlier one. */
export interface Made {
  readonly json: string
  readonly replayed: boolean
}

export interface IdempotencyHeaders {
  readonly "idempotency-key"?: string
  readonly "x-idempotency-key"?: string
}

/** The longest body read here. */
const longest = 16_384
const isKey = Schema.is(IdempotencyKey)

const isKeyOrNone = (header: string | ReadonlyArray<string> | undefined): boolean =>
  header === undefined || (typeof header === "string" && isKey(Idempotency.keyOf(header)))

/** Whether the request is of the plain kind that nearly all are. Everything else is the framework's, which knows all of HTTP. */
const isPlain = ({ headers, method }: IncomingMessage): boolean => {
  const length = Number(headers["content-length"] ?? 0)
  return (
    method === "POST" &&
    length > 0 &&
    length <= longest &&
    ReadableBody.isJson(headers["content-type"] ?? "") &&
    headers["transfer-encoding"] === undefined &&
    headers["content-encoding"] === undefined &&
    headers.expect === undefined &&
    headers.origin === undefined &&
    headers["traceparent"] === undefined &&
    headers["b3"] === undefined &&
    Idempotency.keyHeaders.every((name) => isKeyOrNone(headers[name]))
  )
}

const unread = new InvalidRequest({ errors: [{ path: "", message: "did not arrive whole" }] })

const textOf = (bytes: Uint8Array): Effect.Effect<string, InvalidRequest> =>
  isUtf8(bytes)
    ? Effect.succeed(
        Buffer.from(bytes)
          .toString("utf8")
          .replace(/^\uFEFF/, "")
      )
    : Effect.fail(new InvalidRequest({ errors: [{ path: "", message: "is not UTF-8" }] }))

/** The body of a plain request, which mostly came together with its headers. One that has not is waited for by way of `slowly`. */
const bodyOf = (
  request: IncomingMessage,
  slowly: <A, E>(waiting: Effect.Effect<A, E>) => Effect.Effect<A, E>
): Effect.Effect<string, RequestTimeout | InvalidRequest> =>
  Effect.callback((resume) => {
    // By then the parser has seen all that came in this turn of the loop.
    setImmediate(() => {
      if (!request.complete) return resume(slowly(arriving(request)))
      const bytes: Buffer | null = request.read()
      request.resume()
      resume(textOf(bytes ?? Buffer.alloc(0)))
    })
  })

const arriving = (request: IncomingMessage): Effect.Effect<string, RequestTimeout | InvalidRequest> =>
  Effect.callback<string, InvalidRequest>((resume) => {
    // Its end was told before anybody listened.
    if (request.destroyed) return resume(Effect.fail(unread))
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.once("end", () => resume(textOf(Buffer.concat(chunks))))
    request.once("close", () => resume(Effect.fail(unread)))
  }).pipe(
    Effect.timeoutOrElse({
      duration: ReadableBody.limits.arrival,
      orElse: () => Effect.fail(new RequestTimeout())
    })
  )

/**
 * A route for the plain requests of a busy operation: the same credentials, limits, decoders and refusals as the framework's, without
 * the framework. `handle` is what the operation's handler does; `endpoint` is the operation of the contract, at `path`.
 */
export const route = <Payload>(operation: {
  readonly path: string
  readonly endpoint: { readonly annotations: Context.Context<never> }
  readonly payload: Schema.Codec<Payload, unknown>
  /** The same as the payload's decoder makes of the bodies that it knows; undefined of all others. */
  readonly readPlainly?: (body: unknown) => Payload | undefined
  readonly handle: (principal: Principal, headers: IdempotencyHeaders, payload: Payload) => Effect.Effect<Made, Refusal>
}): Effect.Effect<RawRoutes.RawRoute, never, Effect.Services<typeof Admission.make> | Deployment | Patience> =>
  Effect.gen(function* () {
    const { endpoint, handle, path, payload, readPlainly } = operation
    const admit = yield* Admission.make
    const patience = yield* Patience
    const always = Uniform.ofOurAnswers(yield* Deployment)
    const run = Effect.runCallbackWith(yield* Effect.context<never>())
    // As the framework does, so that it finds the same words for what is wrong.
    const decode = Schema.decodeUnknownResult(Schema.Union([payload]), { errors: "all", onExcessProperty: "error" })

    const answer = Effect.fnUntraced(function* (
      request: IncomingMessage,
      notes: Admission.Notes,
      slowly: Parameters<typeof bodyOf>[1]
    ) {
      const principal = yield* admit(request, endpoint.annotations, notes)
      const json = yield* Effect.fromResult(ReadableBody.parse(yield* bodyOf(request, slowly)))
      const plain = readPlainly?.(json)
      if (plain !== undefined) return yield* handle(principal, request.headers as IdempotencyHeaders, plain)
      const decoded = decode(json)
      if (Result.isFailure(decoded)) return yield* bodyRefusal(decoded.failure.issue)
      return yield* handle(principal, request.headers as IdempotencyHeaders, decoded.success)
    })

    return {
      prefix: path,
      takes: (request) => request.url === path && isPlain(request),
      handle: (request, response, exchange) => {
        Idempotency.readKeys(request.headers)
        const notes: Admission.Notes = { principal: undefined, allowance: undefined }
        const limits = () => {
          const headers = notes.allowance === undefined ? [] : Object.entries(Uniform.rateLimit(notes.allowance)).flat()
          // What is left of a body that nobody read would hold the connection as long as its sender likes.
          if (!request.complete) headers.push("connection", "close")
          return headers
        }
        let isOver = false
        const watch = () =>
          patience.watch(() => {
            isOver = true
            exchange.fail(late, limits())
            stop()
          })
        let done = watch()
        /** The patience is with what we do: how long a caller may take has a limit of its own. */
        const slowly = <A, E>(waiting: Effect.Effect<A, E>) =>
          Effect.suspend(() => {
            done()
            return Effect.onExit(waiting, () => Effect.sync(() => (done = watch())))
          })
        const stop = run(answer(request, notes, slowly), {
          onExit: (exit) => {
            done()
            // What became of an operation that was given up is nobody's business any more.
            if (isOver) return
            if (Exit.isFailure(exit)) {
              const refusal = exit.cause.reasons.find(Cause.isFailReason)?.error
              return isRefusal(refusal) ? exchange.refuse(refusal, limits()) : exchange.fail(exit.cause, limits())
            }
            const { json, replayed } = exit.value
            const headers = [...always, ...exchange.headers, ...limits(), "Content-Type", "application/json"]
            if (replayed) headers.push("Idempotency-Replayed", "true")
            headers.push("Content-Length", String(Buffer.byteLength(json)))
            response.writeHead(201, headers)
            response.end(json)
          }
        })
      }
    }
  })
