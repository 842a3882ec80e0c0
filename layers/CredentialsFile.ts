import { Config, Duration, Effect, Layer, Option, Predicate, Schema } from "effect"
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { EnvironmentWord } from "#domain/Credential.ts"
import { AccountId, TenantTypeId, toTypeId } from "#domain/Ids.ts"
import { Bootstrap, type Bootstrapped } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { newUuid } from "#services/NewId.ts"
import { realTime } from "#services/RealTime.ts"
import * as Directory from "./Directory.ts"
import * as Unwritable from "./Unwritable.ts"

/**
 * What `credentials.json` holds. The password is the one that this installation's first user was made with, who may have another by
 * now; null where it is not known, or that user is not the one of `owner_email` any more.
 */
export const Contents = Schema.Struct({
  base_url: Schema.String,
  scanner_url: Schema.String,
  dashboard_url: Schema.String,
  environment: EnvironmentWord,
  tenant_id: TenantTypeId,
  account_id: AccountId,
  api_key: Schema.String,
  scanner_key: Schema.String,
  owner_email: Schema.NullOr(Schema.String),
  owner_password: Schema.NullOr(Schema.String)
})
export type Contents = typeof Contents.Type

/** The file can be neither read nor written. `message` is a sentence for the operator. */
export class CredentialsFileUnusable extends Schema.TaggedError<CredentialsFileUnusable>()("CredentialsFileUnusable", {
  path: Schema.String,
  message: Schema.String
}) {}

const Text = Schema.fromJsonString(Contents, { space: 2 })
/** Where this installation keeps what it keeps in files. */
export const dataDir = Config.NonEmptyString("TURNPIKE_DATA_DIR").pipe(
  Config.withDefault(".turnpike"),
  Config.map((directory) => resolve(directory))
)
/** Where the file is. */
export const path = Config.map(dataDir, (directory) => join(directory, "credentials.json"))

/** Where the file of another database stays, until that database is served again: nobody else may know its password. */
const asideOf = (file: string, tenant_id: Contents["tenant_id"]) =>
  join(dirname(file), `credentials.${toTypeId("ten", tenant_id)}.json`)

/**
 * Makes sure that the database has its first tenant and that `credentials.json` in `TURNPIKE_DATA_DIR` opens it. Keys that
 * work stay; a file that is lost is written again with new keys, and one of another database is kept aside. Where the file can be
 * neither read nor understood nor written nothing is made: a password that nobody kept would be lost.
 */
export const ensure = Effect.gen(function* () {
  const { ensureKept, issueKeys } = yield* Bootstrap
  const { authenticate } = yield* Credentials
  const { environment, publicUrl, scannerUrl } = yield* Deployment
  const file = yield* path

  const works = Effect.fnUntraced(function* ({ api_key, scanner_key, tenant_id }: Contents) {
    const holders = yield* Effect.forEach([api_key, scanner_key], (key) => Effect.option(authenticate(key)))
    return holders.every((holder) => Option.isSome(holder) && holder.value.tenant_id === tenant_id)
  })
  const makeKeys = (tenant_id: Bootstrapped["tenant_id"], file: string) =>
    Effect.tap(issueKeys(tenant_id), () =>
      Effect.logWarning(
        `${file} did not open this database, so another API key with every right was made for ${toTypeId("ten", tenant_id)}, and another scanner key; nothing ends those that were made before`
      )
    )
  const keep = Effect.fnUntraced(function* ({ account_id, issued, owner_email, tenant_id }: Bootstrapped) {
    // Read when it is our turn: another starter on this directory may have written it meanwhile.
    const found = yield* read(file)
    const isOurs = (contents: Contents) => contents.tenant_id === tenant_id
    const aside = asideOf(file, tenant_id)
    const ours = Option.filter(Option.exists(found, isOurs) ? found : yield* read(aside), isOurs)
    const working = Option.isSome(ours) && (yield* works(ours.value)) ? ours.value : undefined
    const { api_key, scanner_key } = issued ?? working ?? (yield* makeKeys(tenant_id, file))
    const sameOwner = Option.filter(ours, (contents) => contents.owner_email === owner_email)
    const owner_password = issued?.owner_password ?? Option.getOrNull(sameOwner)?.owner_password ?? null
    const contents: Contents = {
      base_url: publicUrl,
      scanner_url: scannerUrl,
      dashboard_url: `${publicUrl}/dashboard`,
      environment,
      tenant_id,
      account_id,
      api_key,
      scanner_key,
      owner_email,
      owner_password
    }
    if (Option.isSome(found) && !isOurs(found.value)) yield* setAside(file, asideOf(file, found.value.tenant_id))
    yield* write(file, contents)
    yield* forget(aside)
    return { path: file, contents }
  })

  yield* makeDirectory(file)
  return yield* ensureKept(keep)
}).pipe(Effect.withSpan("CredentialsFile.ensure"))

/** What stands behind this layer serves a database that somebody can log in to. */
export const layer = Layer.effectDiscard(ensure)

const makeDirectory = (path: string) =>
  Effect.try({
    try: () => Directory.make(dirname(path), 0o700),
    catch: (cause) => failure(path, "written", cause)
  })

/** None is a file that is not there, or empty. One that cannot be looked at or understood may be ours, and stays. */
const read = Effect.fnUntraced(function* (path: string) {
  const text = yield* Effect.try({
    try: () => textOf(path),
    catch: (cause) => failure(path, "read", cause)
  })
  if (text.trim() === "") return Option.none()
  return yield* Schema.decodeUnknownEffect(Text)(text).pipe(
    Effect.mapError(
      () =>
        new CredentialsFileUnusable({
          path,
          message: `${path} is damaged, and may be all that knows the owner's password: mend it, or move it away, and it is written again with other keys.`
        })
    ),
    Effect.map(Option.some)
  )
})

const setAside = (path: string, aside: string) =>
  Effect.try({
    try: () => renameSync(path, aside),
    catch: (cause) => failure(path, "written", cause)
  })
const forget = (path: string) =>
  Effect.try({
    try: () => rmSync(path, { force: true }),
    catch: (cause) => failure(path, "written", cause)
  })

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (cause) {
    if (Predicate.hasProperty(cause, "code") && cause.code === "ENOENT") return ""
    throw cause
  }
}

/** The file is whole at every instant, and nobody but its owner can read it. */
const write = Effect.fnUntraced(function* (path: string, contents: Contents) {
  const text = yield* Effect.orDie(Schema.encodeEffect(Text)(contents))
  const draft = `${path}.${newUuid()}`
  return yield* Effect.try({
    try: () => {
      try {
        forgetDrafts(path)
        writeDurably(draft, `${text}\n`)
        renameSync(draft, path)
      } finally {
        rmSync(draft, { force: true })
      }
    },
    catch: (cause) => failure(path, "written", cause)
  })
})

/** How the names of drafts end. */
const ending = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
/** So old is no draft of a starter that lives. */
const abandoned = Duration.toMillis("1 minute")

/** What starters left behind who were killed while they wrote: keys that work, beside the file that whoever looks after them knows. */
const forgetDrafts = (path: string) => {
  const before = realTime.currentTimeMillisUnsafe() - abandoned
  const [directory, name] = [dirname(path), basename(path)]
  for (const entry of readdirSync(directory)) {
    if (!entry.startsWith(`${name}.`) || !ending.test(entry.slice(name.length + 1))) continue
    const draft = join(directory, entry)
    if ((statSync(draft, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) rmSync(draft, { force: true })
  }
}

const writeDurably = (path: string, text: string) => {
  const file = openSync(path, "wx", 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

const failure = (path: string, what: string, cause: unknown) =>
  new CredentialsFileUnusable({
    path,
    message: `${path} cannot be ${what}: ${Unwritable.reasonOf(path, cause)}`
  })
