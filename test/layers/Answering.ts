import { Deferred, Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import { listening } from "./Listening.ts"

interface Question {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  /** Of JSON; undefined when it is empty. */
  readonly body: unknown
}
export interface Answer {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** An object is written as JSON, a text as it is; `hang` never comes; `cut` ends the connection. */
  readonly body: object | string
}

/** A server that answers from a list, one after the other, the last one again and again. `answers` may be changed. */
export const answering = Effect.fnUntraced(function* (answers: ReadonlyArray<Answer>) {
  const state = { answers, questions: [] as Array<Question> }
  const asked = yield* Deferred.make<void>()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString()
      const body: unknown = text === "" ? undefined : JSON.parse(text)
      state.questions.push({ method: request.method ?? "", path: request.url ?? "", headers: request.headers, body })
      Deferred.doneUnsafe(asked, Effect.void)
      const answer = state.answers[Math.min(state.questions.length, state.answers.length) - 1]
      if (answer === undefined || answer.body === "hang") return
      if (answer.body === "cut") return response.destroy()
      response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers })
      response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body))
    })
  })
  return { state, host: yield* listening(server), asked: Deferred.await(asked) }
})
