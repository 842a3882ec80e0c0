import type * as PgClient from "@effect/sql-pg/PgClient"
import * as PgConnection from "@effect/sql-pg/PgConnection"
import * as PgProtocol from "@effect/sql-pg/PgProtocol"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Data, Effect, Result, type Scope } from "effect"
import { Duplex } from "node:stream"
import { parameter, type Statement, type Step, withoutLists } from "./Statement.ts"

export { OID, overLists, parameter, statement, type Statement, type Step } from "./Statement.ts"

export type Row = ReadonlyArray<unknown>

/** What the first failing step of a flight failed with; the steps behind it were not run. */
export class StatementFailed extends Data.TaggedError("StatementFailed")<{
  readonly code: string
  readonly message: string
  readonly cause: unknown
}> {}

/** The connection is gone, and with it the knowledge of what the flights on their way did. */
export class ConnectionLost extends Data.TaggedError("ConnectionLost")<{
  readonly message: string
  readonly cause: unknown
}> {}

/**
 * Deadlock, serialization, a lock not there in time, a statement out of time, a server without room or that cannot write now, a
 * privilege that was lost: the same may succeed in a moment.
 */
export const isContention = ({ code }: StatementFailed): boolean => passing.test(code)

const passing = /^(?:40P01|40001|42501|55P03|57014|53|55000|57P|25006)/

/** Postgres ended it so that somebody else goes on, by a deadlock or a serialization failure: the same will do when he is through. */
export const isVictim = ({ code }: StatementFailed): boolean => code === "40P01" || code === "40001"

export type FlightFailure = StatementFailed | ConnectionLost

/** Whether another connection is needed: it is gone, or its owner is not allowed in any more, or a statement means something else now. */
export const endsConnection = (failure: FlightFailure): boolean =>
  failure._tag === "ConnectionLost" || endings.has(failure.code)

/** What is prepared is not what is there: a newer version has changed a table, say. A new connection prepares all again. */
const outdated = ["26000", "0A000"]
const endings = new Set(["28000", "28P01", ...outdated])

/** Whether the same would do on a new connection: nothing of it was done. */
export const isOutdated = (failure: FlightFailure): boolean =>
  failure._tag === "StatementFailed" && outdated.includes(failure.code)

/** What became of a flight: the rows of each step, or why there are none. */
export type Landing = Result.Result<ReadonlyArray<ReadonlyArray<Row>>, FlightFailure>

/** A connection of one owner. */
export interface Pipeline {
  readonly isLost: () => boolean
  /**
   * Sends all steps in one write, and the server answers them in one as well; the rows of each step. Interruption gives the
   * connection up. `meanwhile` is called when they are on their way.
   */
  readonly fly: (
    steps: ReadonlyArray<Step>,
    meanwhile?: () => void
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<Row>>, FlightFailure>
}

/** What a connection knows of a statement it has prepared. */
interface Prepared {
  readonly name: string
  ready: boolean
  readField: PgProtocol.FieldReader<unknown> | undefined
}

/** A connection whose owner may send a flight behind others that have not landed yet. */
export interface Wire extends Pipeline {
  /** As `fly`, and flights land in the order they were sent. One that fails does not keep those behind it from being run. */
  readonly send: (steps: ReadonlyArray<Step>, landed: (landing: Landing) => void) => void
  /** Tells when the connection is gone, also where nothing is on its way. */
  readonly onLost: (told: () => void) => void
}

interface Flight {
  readonly plans: ReadonlyArray<Prepared>
  readonly rows: ReadonlyArray<Array<Row>>
  /** The step whose answer is being read. */
  step: number
  failure: StatementFailed | undefined
  readonly landed: (landing: Landing) => void
}

const encodeBind = PgProtocol.makeBindEncoder(PgTypes.writeParameter, PgTypes.isTextFormat)
const execute = PgProtocol.encodeExecute({ portal: "", maxRows: 0 })
const sync = PgProtocol.encodeSync()

class Connection implements Wire {
  readonly #socket: Duplex
  readonly #parser = PgProtocol.makeParser<unknown>()
  readonly #prepared = new Map<Statement, Prepared>()
  #names = 0
  /** On their way, oldest first: the first one's answer is being read. */
  readonly #flights: Array<Flight> = []
  #lost: ConnectionLost | undefined
  #tellLost = () => {}

  constructor(socket: Duplex) {
    this.#socket = socket
    socket.removeAllListeners("data")
    socket.on("data", this.#onData)
    socket.once("close", () => this.#lose("The database closed the connection", undefined))
  }

  readonly isLost = () => this.#lost !== undefined
  readonly onLost = (told: () => void) => {
    this.#tellLost = told
  }

  /** What is on its way is not waited for: the driver would say goodbye politely, and the server finish it first. */
  readonly abandon = () => {
    if (this.#flights.length > 0) this.#lose("The connection was closed", undefined)
  }

  readonly fly: Pipeline["fly"] = (steps, meanwhile) =>
    Effect.callback((resume) => {
      this.send(steps, (landing) => resume(Effect.fromResult(landing)))
      meanwhile?.()
      return Effect.sync(() => this.#lose("The flight was interrupted", undefined))
    })

  readonly send: Wire["send"] = (steps, landed) => {
    if (this.#lost !== undefined) return landed(Result.fail(this.#lost))
    const frames: Array<Uint8Array> = []
    try {
      const plans = steps.map((step) => this.#encode(step, frames))
      if (this.#flights.push({ plans, rows: steps.map(() => []), step: 0, failure: undefined, landed }) === 1)
        this.#parser.readField = plans[0]?.readField
    } catch (cause) {
      return landed(Result.fail(new StatementFailed({ code: "", message: "A value cannot be sent", cause })))
    }
    frames.push(sync)
    this.#socket.write(Buffer.concat(frames))
  }

  #encode(step: Step, frames: Array<Uint8Array>): Prepared {
    const { statement, values } = withoutLists(step)
    let prepared = this.#prepared.get(statement)
    if (prepared?.ready !== true) {
      prepared = { name: `s${++this.#names}`, ready: false, readField: undefined }
      this.#prepared.set(statement, prepared)
      const { text: query, types: parameterTypes } = statement
      frames.push(Result.getOrThrow(PgProtocol.encodeParse({ name: prepared.name, query, parameterTypes })))
      frames.push(PgProtocol.encodeDescribe({ target: "statement", name: prepared.name }))
    }
    const parameters = values.map((value, index) => parameter(statement, value, index))
    frames.push(Result.getOrThrow(encodeBind({ portal: "", statement: prepared.name, parameters })), execute)
    return prepared
  }

  readonly #onData = (chunk: Uint8Array) => {
    try {
      this.#parser.pushEach(chunk, this.#onMessage)
    } catch (cause) {
      this.#lose("The database was not understood", cause)
    }
  }

  readonly #onMessage = (message: PgProtocol.BackendMessage<unknown>) => {
    const [flight] = this.#flights
    if (flight === undefined) return
    switch (message._tag) {
      case "DataRow":
        flight.rows[flight.step]?.push(message.values)
        return
      case "CommandComplete":
        this.#parser.readField = flight.plans[++flight.step]?.readField
        return
      case "RowDescription": {
        const prepared = flight.plans[flight.step]
        if (prepared === undefined) return
        // Rows come in binary, whatever the description of a statement, which knows no portal, says about that.
        const columns = message.fields.map(({ dataTypeOid }) => ({ dataTypeOid, format: 1 }))
        prepared.readField = Result.getOrThrow(PgTypes.makeFieldReader(columns))
        prepared.ready = true
        this.#parser.readField = prepared.readField
        return
      }
      case "NoData": {
        const prepared = flight.plans[flight.step]
        if (prepared !== undefined) prepared.ready = true
        return
      }
      case "ErrorResponse": {
        const { code = "", message: said = "The database refused a statement" } = message.fields
        flight.failure = new StatementFailed({ code, message: said, cause: message.fields })
        return
      }
      case "ReadyForQuery":
        this.#flights.shift()
        this.#parser.readField = this.#flights[0]?.plans[0]?.readField
        flight.landed(flight.failure === undefined ? Result.succeed(flight.rows) : Result.fail(flight.failure))
    }
  }

  #lose(message: string, cause: unknown) {
    if (this.#lost !== undefined) return
    this.#lost = new ConnectionLost({ message, cause })
    this.#socket.off("data", this.#onData).destroy()
    for (const { landed } of this.#flights.splice(0)) landed(Result.fail(this.#lost))
    this.#tellLost()
  }
}

/**
 * Settings for a connection whose every statement looks up a few rows by key: one plan is right for all of them, and making one
 * costs more than running it. It is kept for the life of the connection, so one made while a table was small must not read it
 * whole when it is large.
 */
export const byKey = (config: PgClient.PgClientConfig, applicationName: string): PgClient.PgClientConfig => ({
  ...config,
  applicationName,
  startupParameters: {
    ...config.startupParameters,
    plan_cache_mode: "force_generic_plan",
    enable_seqscan: "off",
    enable_hashjoin: "off",
    enable_mergejoin: "off"
  }
})

/**
 * Settings for a connection whose commits nobody waits for until they are on disk: the next durable commit of anybody, or the server
 * within a second, takes them there. Only for what may be as if it had never been once the machine of the database has died.
 */
export const unflushed = (config: PgClient.PgClientConfig): PgClient.PgClientConfig => ({
  ...config,
  startupParameters: { ...config.startupParameters, synchronous_commit: "off" }
})

/**
 * A connection for hot paths. The driver opens it (TLS, authentication) and closes it; in between we speak on its socket ourselves,
 * because the driver ends every statement with a synchronisation of its own: the server then flushes, and wakes us, once for
 * each of them.
 */
export const make = (config: PgClient.PgClientConfig): Effect.Effect<Wire, ConnectionLost, Scope.Scope> =>
  PgConnection.make(config).pipe(
    Effect.mapError((cause) => new ConnectionLost({ message: "No connection to the database", cause })),
    Effect.flatMap((connection) => {
      const socket = socketOf(connection)
      return socket === undefined
        ? Effect.die("This version of the driver keeps its socket somewhere else")
        : Effect.acquireRelease(
            Effect.sync(() => new Connection(socket)),
            (open) => Effect.sync(open.abandon)
          )
    })
  )

const socketOf = (connection: PgConnection.PgConnection): Duplex | undefined => {
  const session: unknown = "session" in connection ? connection.session : undefined
  const socket: unknown = typeof session === "object" && session !== null && "socket" in session && session.socket
  return socket instanceof Duplex ? socket : undefined
}

const wrong = (value: unknown, expected: string): never => {
  throw new TypeError(`Expected ${expected} in a row, got ${typeof value}`)
}

/** Readers of one column; a value of another type means that the statement and its reader do not belong together. */
export const bigint = (value: unknown): bigint => (typeof value === "bigint" ? value : wrong(value, "a bigint"))
export const int = (value: unknown): number => (typeof value === "number" ? value : wrong(value, "a number"))
export const text = (value: unknown): string => (typeof value === "string" ? value : wrong(value, "a text"))
export const flag = (value: unknown): boolean => (typeof value === "boolean" ? value : wrong(value, "a boolean"))
export const date = (value: unknown): Date => (value instanceof Date ? value : wrong(value, "an instant"))
export const nullable =
  <A>(read: (value: unknown) => A) =>
  (value: unknown): A | null =>
    value === null ? null : read(value)
export const oneOf =
  <const A extends string>(...values: ReadonlyArray<A>) =>
  (value: unknown): A =>
    values.find((known) => known === value) ?? wrong(value, values.join(" or "))
