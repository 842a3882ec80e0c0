import { Effect, Exit, Redacted, Scope } from "effect"
import * as Postgres from "#layers/Postgres.ts"

/** One Postgres and one migrated template for the whole run; every test file copies the template. Each project of tests asks for it. */
export default async function setup() {
  if (process.env[Postgres.testTemplateVariable] !== undefined) return
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  try {
    const template = await Effect.runPromise(Scope.provide(Postgres.testTemplate, scope))
    process.env[Postgres.testTemplateVariable] = Redacted.value(template)
  } catch (error) {
    // vitest does not call the teardown of a setup that failed.
    await close()
    throw error
  }
  return close
}
