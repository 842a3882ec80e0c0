import { Effect } from "effect"
import { afterEach, assert, it } from "vitest"
import { evidenceOf, lookAt } from "#services/ScanEngine/protocols/Look.ts"
import { closeAll, httpOrigin } from "./PublicHttpHarness.ts"
import { closeVisits, visitOf } from "./SiteVisitsHarness.ts"

afterEach(async () => {
  await closeVisits()
  await closeAll()
})

it("a page in place of a document is kept no longer than its evidence needs", async () => {
  const page = `<!doctype html><title>Nothing here</title>${"<p>Come in</p>".repeat(20_000)}`
  const port = await httpOrigin((_, response) => {
    response.writeHead(404, { "content-type": "text/html" }).end(page)
  })
  const visit = await visitOf(`127.0.0.1:${port}`, {})
  const look = await Effect.runPromise(lookAt(visit, "/.well-known/ucp"))
  assert.deepInclude(look, { _tag: "Absent", why: "answered 404" })
  assert.isTrue(look.outcome._tag === "Answered" && look.outcome.document.bytes.length === 4096)
  assert.match(evidenceOf(look).snippet ?? "", /^<!doctype html><title>Nothing here<\/title><p>Come in/)
})
