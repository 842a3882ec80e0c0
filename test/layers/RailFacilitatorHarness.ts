import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Queue, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Settlement } from "#domain/ChainSettlement.ts"
import type { Witness } from "#layers/RailEvm/Witness.ts"
import * as RailFacilitator from "#layers/RailFacilitator.ts"
import { newUuid } from "#services/NewId.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Rail } from "#services/Rail.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"

export interface Question {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: unknown
}
export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** An object is written as JSON, a text as it is; `hang` never comes; `cut` ends the connection. */
  readonly body: object | string
}

/** A server that plays a facilitator: answers from a list, one after the other, the last one again and again. */
export const facilitator = Effect.fnUntraced(function* (
  answers: ReadonlyArray<Answer>,
  witness: Layer.Layer<never> | Layer.Layer<Witness> = Layer.empty
) {
  const questions: Array<Question> = []
  const asked = yield* Deferred.make<void>()
  const respond = (response: ServerResponse) => {
    const answer = answers[Math.min(questions.length, answers.length) - 1]
    Deferred.doneUnsafe(asked, Effect.void)
    if (answer === undefined || answer.body === "hang") return
    if (answer.body === "cut") return response.destroy()
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body))
  }
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString()
      const body: unknown = text === "" ? undefined : JSON.parse(text)
      questions.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body })
      respond(response)
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host], bodyBytes: 10_000 }))
  const layer = RailFacilitator.layer({
    url: new URL(`http://${host}/x402/`),
    authorization: Option.some(Redacted.make("Bearer of-nobody"))
  }).pipe(
    Layer.provide(witness),
    Layer.provide(PublicHttp.layer),
    Layer.provide(Layer.effect(PublicHttpPolicy, policy))
  )
  const rail = Context.get(yield* Layer.build(Layer.fresh(layer)), Rail)
  const heard = Effect.sync(() => questions.length)
  /** Resumes when so many questions are there. */
  const saw = (count: number) => Effect.repeat(Effect.andThen(Effect.yieldNow, heard), { until: (now) => now >= count })
  return { rail, questions, asked: Deferred.await(asked), saw }
})

/** Moves virtual time on when somebody has begun to sleep for so long, and not while he waits for anything else. */
export const skipping = (pause: Duration.Input) =>
  Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
    const length = Duration.fromInputUnsafe(pause)
    const clock = yield* Clock.Clock
    const asleep = yield* Queue.unbounded<void>()
    const watched: Clock.Clock = Object.assign(Object.create(clock), {
      sleep: (duration: Duration.Duration) =>
        Duration.equals(duration, length)
          ? Effect.andThen(Queue.offer(asleep, undefined), clock.sleep(duration))
          : clock.sleep(duration)
    })
    const skip = Effect.forever(Effect.andThen(Queue.take(asleep), TestClock.adjust(length)))
    return yield* Effect.raceFirst(Effect.provideService(effect, Clock.Clock, watched), skip)
  })

export const settlement = (changed: Partial<Settlement> = {}): Settlement => ({
  id: newUuid(),
  authorization: authorization(),
  amount: 10_000n,
  transaction: undefined,
  askedBefore: false,
  since: new Date(0),
  ...changed
})
