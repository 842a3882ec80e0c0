import { Effect, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** As large as a segment of Postgres' log, and as one that is used again it has its blocks. */
const size = 16 * 1024 * 1024
const page = Buffer.alloc(8192, 1)

/**
 * What the disk alone would allow whoever answers when all that has come is safe: those who come while a page is written and synced
 * share the next one. No database is in it, and no work but that.
 */
export const make: Effect.Effect<() => Effect.Effect<void>, never, Scope.Scope> = Effect.gen(function* () {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "turnpike-bench-synced-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )
  const file = yield* Effect.acquireRelease(
    Effect.promise(() => filled(join(directory, "log"))),
    (file) => Effect.promise(() => file.close())
  )
  let waiting: Array<() => void> = []
  let place = 0
  let isBusy = false
  const serve = async () => {
    isBusy = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await file.write(page, 0, page.length, place)
      await file.datasync()
      place = (place + page.length) % size
      for (const tell of group) tell()
    }
    isBusy = false
  }
  return () =>
    Effect.callback((resume) => {
      waiting.push(() => resume(Effect.void))
      if (!isBusy) void serve()
    })
})

const filled = async (path: string): Promise<FileHandle> => {
  const file = await open(path, "w")
  for (let place = 0; place < size; place += page.length) await file.write(page, 0, page.length, place)
  await file.sync()
  return file
}
