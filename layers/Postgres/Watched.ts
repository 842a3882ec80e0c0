import type * as PgClient from "@effect/sql-pg/PgClient"
import { Context, Duration, Effect } from "effect"
import { connect, type NetConnectOpts, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { setImmediate } from "node:timers"
import { addressOf } from "./Unusable.ts"

/**
 * How long an answer is waited for: longer than any statement may take on the database. Only COMMIT, which no time limit of a database
 * ends, may wait longer for a disk or a standby: that it was given up tells as little of its outcome as a broken connection does.
 */
export const Patience = Context.Reference("turnpike/layers/Postgres/Watched/Patience", {
  defaultValue: () => Duration.seconds(12)
})

/**
 * A connection that breaks when nothing comes after something was asked over it. A network that has forgotten a connection, or a proxy
 * whose other side is gone, breaks none: whoever asks has no end then, and says nothing. An answer that has begun is waited for.
 */
const watching = (socket: Socket, patience: Duration.Duration): Duplex => {
  let isAsked = false
  let isLate = false
  const line = new Duplex({
    // The other side's end is the end, as it is for a socket.
    allowHalfOpen: false,
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => {
      isAsked = true
      socket.write(chunk, done)
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    }
  })
  socket.setTimeout(Duration.toMillis(patience))
  socket.on("timeout", () => {
    if (!isAsked) return
    // To a process that stood still its timers come before what arrived meanwhile, behind which something new may be asked at once.
    isLate = true
    setImmediate(() => isLate && line.destroy(new Error("The database did not answer in time")))
  })
  socket.on("data", (chunk: Buffer) => {
    isAsked = false
    isLate = false
    if (!line.push(chunk)) socket.pause()
  })
  socket.on("end", () => line.push(null))
  socket.on("error", (error) => line.destroy(error))
  socket.on("close", () => line.destroy())
  // Nobody may listen to one that is being closed.
  line.on("error", () => {})
  return line
}

/** The same settings, for connections that are watched. Not for statements that may take as long as they take. */
export const watched = (config: PgClient.PgClientConfig): Effect.Effect<PgClient.PgClientConfig> =>
  Effect.map(Patience, (patience) => {
    const place: NetConnectOpts =
      config.path === undefined
        ? { ...addressOf(config.url), noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAlive }
        : { path: config.path }
    return { ...config, stream: () => watching(connect(place), patience) }
  })

/** How long a connection is quiet before it is asked whether it is there, in milliseconds: what stands between must not forget it either. */
export const keepAlive = Duration.toMillis("10 seconds")
