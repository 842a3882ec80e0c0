import { generateKeyPairSync, verify } from "node:crypto"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { afterEach, assert } from "vitest"
import {
  agentChannel,
  type AgentChannel,
  type AgentChannelOptions,
  type ChannelEvent,
  TurnpikeError
} from "#client/client.ts"
import { json, stranger } from "./Strangers.ts"

const pair = generateKeyPairSync("ed25519")

/** The private key as the platform shows it: the seed in base64. */
export const seed = pair.privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32).toString("base64")

export type Connection = ServerResponse & {
  /** Writes an event. */
  readonly say: (id: string | undefined, event: string, data?: object) => void
}

interface Platform {
  readonly url: string
  /** What was asked, such as `challenge`, `authenticate` and `connect sess_1 after evt_1`, in order. */
  readonly asked: ReadonlyArray<string>
  readonly open: ReadonlySet<ServerResponse>
}

interface Answers {
  /** Answers the request for a connection with this number, counted from 1. Gives true when it is to be opened as usual. */
  readonly before?: (
    attempt: number,
    response: ServerResponse,
    request: IncomingMessage
  ) => boolean | PromiseLike<boolean>
  readonly challenge?: (attempt: number, response: ServerResponse) => boolean
}

/** A server with one agent, that opens a session for whoever signs its challenges. */
export const platform = async (
  connected: (connection: Connection, attempt: number) => unknown,
  answers: Answers = {}
): Promise<Platform> => {
  const asked: Array<string> = []
  const open = new Set<ServerResponse>()
  let [challenges, sessions, attempts] = [0, 0, 0]
  const { url } = await stranger(async (request, response) => {
    const { body, headers, url: path = "" } = request
    const what = path.replace("/v1/agents/agt_1/", "")
    if (what === "challenge") {
      asked.push(what)
      challenges += 1
      if (answers.challenge?.(challenges, response) === false) return
      return json(response, 200, { challenge: `challenge_${challenges}`, expiresIn: 60 })
    }
    if (what === "authenticate") {
      const { challenge, signature } = JSON.parse(body)
      const isSigned = verify(null, Buffer.from(challenge), pair.publicKey, Buffer.from(signature, "base64"))
      asked.push(isSigned ? what : "forged")
      if (!isSigned) return json(response, 401, { code: "INVALID_SIGNATURE", title: "No" })
      return json(response, 200, { sessionToken: `sess_${++sessions}`, expiresIn: 3600 })
    }
    const after = headers["last-event-id"]
    asked.push(`${what} ${headers.authorization?.slice(7)}${after === undefined ? "" : ` after ${after}`}`)
    attempts += 1
    const attempt = attempts
    if ((await answers.before?.(attempt, response, request)) === false) return
    open.add(response.writeHead(200, { "content-type": "text/event-stream" }))
    response.flushHeaders()
    response.on("close", () => open.delete(response))
    const say: Connection["say"] = (id, event, data = {}) =>
      response.write(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    return connected(Object.assign(response, { say }), attempt)
  })
  return { url, asked, open }
}

const channels: Array<AgentChannel> = []
afterEach(async () => {
  for (const channel of channels.splice(0)) await channel.return()
})

/** The channel of the agent at this platform; it is closed when the test ends. */
export const channelOf = (
  { url }: { readonly url: string },
  options: Partial<AgentChannelOptions> | object = {}
): AgentChannel => {
  const channel = agentChannel({
    baseUrl: url,
    agentId: "agt_1",
    privateKey: seed,
    maxRetryDelayMs: 5,
    ...options
  } as AgentChannelOptions)
  channels.push(channel)
  return channel
}

/** The next events: their ids, or names where they have none. */
export const next = async (channel: AgentChannel, count: number): Promise<ReadonlyArray<string>> => {
  const events: Array<ChannelEvent> = []
  while (events.length < count) {
    const { value } = await channel.next()
    if (value === undefined) break
    events.push(value)
  }
  return events.map(({ id, type }) => id ?? type)
}

/** What the channel ends with, after the events that came before. */
export const failure = async (channel: AgentChannel): Promise<TurnpikeError> => {
  try {
    while (!(await channel.next()).done);
  } catch (error) {
    assert.instanceOf(error, TurnpikeError)
    assert.deepStrictEqual(await channel.next(), { done: true, value: undefined })
    return error
  }
  return assert.fail("expected an error")
}

/** Waits until the client closed this connection. */
export const closed = async (connection: ServerResponse): Promise<void> => {
  if (!connection.destroyed) await once(connection, "close")
}

/** Waits until it is so. */
export const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((done) => setTimeout(done, 2))
}
