import { type ChannelEvent, eventOf, resumable } from "./ChannelEvent.ts"
import type { Connection } from "./ChannelConnection.ts"
import type { Frame } from "./EventFrames.ts"
import { pause } from "./Time.ts"
import { failure, TurnpikeError } from "./TurnpikeError.ts"

/** An attempt that is about to be made again. */
export interface Retry {
  /** How many in a row went wrong. */
  readonly attempt: number
  readonly delayMs: number
  readonly error: TurnpikeError
}

export interface Listening {
  /** Opens a session: its token. */
  readonly logIn: () => Promise<string>
  readonly connect: (token: string, lastEventId: string | undefined) => Promise<Connection>
  /** Hands an event on; resolves when there is room for the next. */
  readonly put: (event: ChannelEvent, weight: number) => Promise<void>
  readonly lastEventId: string | undefined
  readonly retries: number
  readonly maxRetryDelayMs: number
  readonly onConnect: (() => void) | undefined
  readonly onRetry: ((retry: Retry) => void) | undefined
  readonly signal: AbortSignal
}

/** A connection that stood this long was a good one: the next one is not made to wait for those before it. */
const goodAfterMs = 10_000
/** The pause before connecting again where the server asked for none. */
const usualRetryMs = 1_000
/** However long the server asks to wait, it is tried again after this. */
const mostPatienceMs = 300_000
/** More ids than the server would ever replay. */
const mostIds = 1_000
/** A session may have ended; who is refused this often in a row is not wanted. */
const mostRefusals = 3

const isPassing = ({ status }: TurnpikeError) => [0, 401, 408, 425, 429].includes(status) || status >= 500

/** Whether an id is new, among the last ones. */
const memory = (first: string | undefined) => {
  const ids = new Set(first === undefined ? [] : [first])
  return (id: string): boolean => {
    if (ids.has(id)) return false
    ids.add(id)
    for (const oldest of ids) {
      if (ids.size <= mostIds) break
      ids.delete(oldest)
    }
    return true
  }
}

/** Keeps a connection open and hands on what it brings, until the signal is aborted or something cannot be helped: throws that. */
export const listen = async (about: Listening): Promise<never> => {
  const { put, signal } = about
  const isNew = memory(about.lastEventId)
  let lastEventId = about.lastEventId
  let token: string | undefined
  let failures = 0
  /** Whether the connection is the next one of another, and has brought nothing yet. */
  let isMoved = false
  let refusals = 0
  let retryMs = usualRetryMs

  const failed = async (error: TurnpikeError): Promise<void> => {
    signal.throwIfAborted()
    failures += 1
    if (!isPassing(error) || failures > about.retries) throw error
    refusals = error.status === 401 ? refusals + 1 : refusals
    if (refusals >= mostRefusals) throw error
    const growing = Math.min(about.maxRetryDelayMs, retryMs * 2 ** Math.min(failures - 1, 20))
    const asked = Math.min(mostPatienceMs, (error.retryAfter ?? 0) * 1000)
    const delayMs = Math.max(asked, jittered(growing))
    about.onRetry?.({ attempt: failures, delayMs, error })
    await pause(delayMs, signal)
  }

  /** A connection under the session there is, or under a new one when that has ended. */
  const openOnce = async (): Promise<Connection> => {
    const isOld = token !== undefined
    token ??= await about.logIn()
    try {
      return await about.connect(token, lastEventId)
    } catch (error) {
      if (!(error instanceof TurnpikeError) || error.status !== 401) throw error
      token = undefined
      if (isOld) return openOnce()
      throw error
    }
  }

  const open = async (): Promise<Connection> => {
    for (;;) {
      try {
        const connection = await openOnce()
        refusals = 0
        return connection
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof TurnpikeError)) throw error
        await failed(error)
      }
    }
  }

  const standing = (connection: Connection) => {
    retryMs = Math.max(100, connection.retry() ?? retryMs)
    if (connection.age() >= goodAfterMs) isFine()
  }

  const isFine = () => {
    failures = 0
    isMoved = false
  }

  /** The connection after one that the server wants to close. Not all agents come at once. */
  const handOver = async (connection: Connection): Promise<Connection> => {
    standing(connection)
    if (isMoved || failures > 0) await failed(ended())
    else await pause(jittered(Math.min(retryMs, usualRetryMs, about.maxRetryDelayMs)), signal)
    isMoved = true
    return open()
  }

  /** Where the stream begins. A resumed one begins where we are; one that lost something says so next, and goes on from there. */
  const greeted = (frame: Frame): void => {
    lastEventId ??= resumable(frame.id)
    about.onConnect?.()
  }

  const deliver = async (frame: Frame): Promise<void> => {
    const event = eventOf(frame)
    // That of a `resync` is a place and no event.
    if (event.id !== undefined && event.type !== "resync" && !isNew(event.id)) return
    isFine()
    lastEventId = event.id ?? lastEventId
    await put(event, frame.data.length)
  }

  /** Hands on what a connection brings until it ends, or until the one after it is open: answers that one. */
  const follow = async (connection: Connection): Promise<Connection> => {
    let next: Promise<Connection> | undefined
    let opening: Promise<Step> | undefined
    let step = stepOf(connection)
    for (;;) {
      const { end, frames, opened } = await (opening ? Promise.race([step, opening]) : step)
      if (opened) return opened
      if (end) {
        if (next) return next
        standing(connection)
        await failed(end)
        return open()
      }
      if (!frames) {
        // There will be no next one, and this one is still there.
        next = undefined
        opening = undefined
        continue
      }
      for (const frame of frames) {
        if (frame.event === "reconnect_required") {
          next ??= handOver(connection)
          opening ??= next.then(asStep, () => ({}))
        } else if (frame.event === "superseded") {
          if (!next) throw superseded()
          return next
        } else if (frame.event === "connected") greeted(frame)
        else if (frame.event !== "heartbeat") await deliver(frame)
      }
      step = stepOf(connection)
    }
  }

  for (let connection = await open(); ; ) {
    const next = await follow(connection)
    connection.close()
    connection = next
  }
}

interface Step {
  readonly frames?: ReadonlyArray<Frame>
  readonly end?: TurnpikeError
  readonly opened?: Connection
}

const asStep = (opened: Connection): Step => ({ opened })

const stepOf = (connection: Connection): Promise<Step> =>
  connection.read().then(
    (frames) => (frames ? { frames } : { end: ended() }),
    (error) => {
      if (error instanceof TurnpikeError) return { end: error }
      throw error
    }
  )

// @effect-diagnostics-next-line globalRandom:off
const jittered = (millis: number) => millis * (0.5 + Math.random() / 2)

const ended = () => failure("NETWORK_ERROR", "The server ended the connection")

const superseded = () => failure("SUPERSEDED", "Another connection of the session took over")
