import type * as PgClient from "@effect/sql-pg/PgClient"
import { Predicate, Redacted, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"

/** Why the database cannot be used. `message` is a sentence for the operator, and never shows a password. */
export class PostgresUnusable extends Schema.TaggedError<PostgresUnusable>()("PostgresUnusable", {
  reason: Schema.Literals([
    "Unreadable",
    "Unreachable",
    "Pooled",
    "TooOld",
    "Encoding",
    "Hurried",
    "Foreign",
    "Older",
    "Newer"
  ]),
  message: Schema.String
}) {}

/** The parts of a connection URL; undefined when it has none, or others than whoever wrote it meant. */
export const partsOf = (url: Redacted.Redacted): URL | undefined => {
  const parts = URL.parse(Redacted.value(url))
  if (parts === null || !/^postgres(?:ql)?:$/.test(parts.protocol)) return undefined
  // A password with / ? or # in it ends the address too early: its rest, and the @ behind it, are taken for something else.
  const behind = [parts.pathname, parts.hash, ...parts.searchParams.keys()]
  const isWhole = !behind.some((part) => part.includes("@"))
  // libpq takes several, to try one after the other.
  const isOne = ![parts.hostname, ...parts.searchParams.getAll("host")].some((host) => host.includes(","))
  return isWhole && isOne && [parts.hostname, parts.username, parts.password, parts.pathname].every(isEncoded)
    ? parts
    : undefined
}

const isEncoded = (part: string): boolean => {
  try {
    return decodeURIComponent(part) !== undefined
  } catch {
    return false
  }
}

export const unreadable = () =>
  new PostgresUnusable({
    reason: "Unreadable",
    message:
      "DATABASE_URL cannot be read. It is postgres://user:password@host:5432/database with one host, where user and password are " +
      "percent-encoded: / is %2F, @ is %40, # is %23, ? is %3F and % is %25."
  })

/** Whether this URL asks for encryption in a word of other drivers, which ours passes over. */
export const asksInVain = (parts: URL): boolean =>
  !parts.searchParams.has("sslmode") &&
  parts.searchParams.getAll("ssl").some((value) => !/^(?:|0|false|no|off|disable)$/i.test(value))

/** Whoever asks for encryption and gets none should not find that out from the network. */
export const unencrypted = () =>
  new PostgresUnusable({
    reason: "Unreadable",
    message:
      "DATABASE_URL has ssl=, which encrypts nothing here: write sslmode=require in its place, which checks the certificate and its name " +
      "(an authority of your own is named by NODE_EXTRA_CA_CERTS), or leave it out."
  })

/** Where the database of this URL listens, as the driver reads it. A host that begins with / is the directory of a socket. */
export const addressOf = (url: Redacted.Redacted | undefined): { readonly host: string; readonly port: number } => {
  const parts = url && partsOf(url)
  const named = (name: string) => parts?.searchParams.getAll(name).at(-1)
  const host = named("host") ?? decodeURIComponent(parts?.hostname ?? "")
  return {
    host: host.replace(/^\[(.*)\]$/, "$1") || "localhost",
    port: Number(named("port") ?? (parts?.port || 5432))
  }
}

/** There is nobody, or nobody who lets us in. */
export const unreachable = (config: PgClient.PgClientConfig) => (error: SqlError) => {
  const why = whyOf(error.reason.cause) ?? error.reason.message
  // What PgBouncer says to settings of a session; Postgres says something else.
  if (why.startsWith("unsupported startup parameter")) return pooled(config)
  // Before 14 there was no such setting, and in whatever language a server says so, it names it.
  if (codeOf(error.reason.cause) === "42704" && why.includes("idle_session_timeout")) return tooOld("13 or older")
  return new PostgresUnusable({
    reason: "Unreachable",
    message: `The database at ${placeOf(config)} cannot be used: ${why}`
  })
}

/** Something stands before it that does not take a session as one: statements of one of ours would come from several, and their ends be lost. */
export const pooled = (config: PgClient.PgClientConfig) =>
  new PostgresUnusable({
    reason: "Pooled",
    message:
      `What answers at ${placeOf(config)} is a pooler that does not take the settings of a session. ` +
      "Turnpike keeps connections of its own and needs Postgres itself: name its address."
  })

export const tooOld = (version: string) =>
  new PostgresUnusable({
    reason: "TooOld",
    message: `The database server is Postgres ${version}; Turnpike needs 15 or newer.`
  })

/** Its setting cannot be asked for as others are when a session begins, because older servers know none of that name. */
export const hurried = (millis: number) =>
  new PostgresUnusable({
    reason: "Hurried",
    message:
      `The database cuts every transaction off after ${millis} ms (transaction_timeout), which is less than ours may take: ` +
      "set it to 0, or to 10 seconds at least, for this database or for its user."
  })

/** Where it is, without who logs in there. */
export const placeOf = ({ path, url }: PgClient.PgClientConfig): string => {
  if (url === undefined || partsOf(url) === undefined) return path ?? "an unknown address"
  const { host, port } = addressOf(url)
  return `${path ?? `${host.includes(":") ? `[${host}]` : host}:${port}`} (DATABASE_URL)`
}

/** What was tried at each address, where a name has several: then the error itself has no message. */
const whyOf = (cause: unknown): string | undefined => {
  if (cause instanceof AggregateError && cause.errors.length > 0) {
    return [...new Set(cause.errors.map((error) => whyOf(error) ?? String(error)))].join(", ")
  }
  if (cause instanceof Error && cause.message !== "") return cause.message
  return codeOf(cause)
}

const codeOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "code") ? String(cause.code) : undefined
