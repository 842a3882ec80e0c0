import { Duration, Effect } from "effect"
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** So long whoever has a connection and asks for nothing keeps it from a newcomer: requests come with their connections. */
const grace = Duration.toMillis("100 millis")

/** What is kept free of a hundred connections: so many newcomers at once find a place. */
const spare = 1

/** So long what was said is not said again. */
const silence = Duration.toMillis("1 minute")

/**
 * Who gives way where all connections are taken: Node cuts a newcomer off, and whoever opened them all and asked for nothing would keep
 * everybody else out. They are those that have never asked for anything, and after them those whose last request was answered, in the
 * order in which they began to wait. Whose request is under way keeps its connection.
 */
export const make = (server: Server, now: () => number) => {
  /** Since when each of them asks for nothing, in that order: under a flood nobody is looked for among all of them. */
  const [unused, idle] = [new Map<Socket, number>(), new Map<Socket, number>()]
  const leaves = (socket: Socket) => void (unused.delete(socket) || idle.delete(socket))
  const told = { gaveWay: 0, refused: 0, at: Number.NEGATIVE_INFINITY }

  /** Lets go of whoever asks for nothing for longest; false where nobody does. */
  const giveWay = () => {
    for (const waiting of [unused, idle]) {
      const [longest] = waiting
      if (longest === undefined || now() - longest[1] < grace) continue
      leaves(longest[0])
      longest[0].destroy()
      told.gaveWay++
      return true
    }
    return false
  }
  const most = server.maxConnections - Math.ceil((server.maxConnections * spare) / 100)
  const makeRoom = () =>
    server.getConnections((_, open) => {
      for (let above = open - most; above > 0 && giveWay(); above--);
    })

  const opened = (socket: Socket) => {
    unused.set(socket, now())
    socket.once("close", () => leaves(socket))
    // To a process that stood still a newcomer comes before what the others have sent meanwhile: that is read first.
    setImmediate(makeRoom)
  }
  const refused = () => {
    told.refused++
    setImmediate(makeRoom)
  }

  /** Says, once a minute at most, that there was no room. */
  const tell = Effect.suspend(() => {
    const { at, gaveWay, refused } = told
    if (gaveWay + refused === 0 || now() - at < silence) return Effect.void
    Object.assign(told, { gaveWay: 0, refused: 0, at: now() })
    return Effect.logWarning(
      `No more than ${server.maxConnections} connections are taken (TURNPIKE_MAX_CONNECTIONS); idle ones that gave way to newcomers: ${gaveWay}, newcomers that were cut off: ${refused}`
    )
  })

  return {
    opened,
    refused,
    tell,
    /** A request begins on it. */
    asks: leaves,
    /** Its last request was answered, and it stays open. */
    rests: (socket: Socket) => {
      if (!socket.destroyed) idle.set(socket, now())
    }
  }
}
