import { Effect, Layer } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { Forbidden } from "#domain/Refusal.ts"
import { Scans } from "#services/Scans.ts"
import * as ReportLinks from "#services/Scans/ReportLinks.ts"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { badge } from "./Reports/Badge.ts"
import { pageHeaders } from "./Reports/Page.ts"
import { scanReport } from "./Reports/ScanReport.ts"
import { testReport } from "./Reports/TestReport.ts"

const withHeaders = (headers: Readonly<Record<string, string>>) =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(response.status === 200 ? HttpServerResponse.setHeaders(response, headers) : response)
  )

const reports = HttpApiBuilder.group(
  Api,
  "scanner_reports",
  Effect.fnUntraced(function* (handlers) {
    const scans = yield* Scans
    const tests = yield* ShoppingTests
    const links = yield* ReportLinks.make
    const check = (kind: ReportLinks.Reported, id: string, signature: string | undefined) =>
      signature === undefined || links.verify(kind, id, signature)
        ? Effect.void
        : Effect.fail(new Forbidden({ reason: "this is not the signature of that report" }))
    return handlers.handleAll({
      scan: Effect.fnUntraced(function* ({ params: { id }, query: { signature } }) {
        yield* check("scan", id, signature)
        const scan = yield* scans.get(id)
        yield* withHeaders(pageHeaders)
        return scanReport(scan)
      }),
      test: Effect.fnUntraced(function* ({ params: { id }, query: { signature } }) {
        yield* check("test", id, signature)
        const test = yield* tests.get(id)
        yield* withHeaders(pageHeaders)
        return testReport(test)
      })
    })
  })
)

/** Whoever shows the badge is not asked for it again for so many seconds. */
const badgeHeaders = { "cache-control": "public, max-age=300" }

const badges = HttpApiBuilder.group(
  Api,
  "badges",
  Effect.fnUntraced(function* (handlers) {
    const scans = yield* Scans
    return handlers.handleAll({
      badge: Effect.fnUntraced(function* ({ params }) {
        const domain = params.domain.replace(/\.svg$/i, "")
        const score = yield* scans.freshest(domain).pipe(
          Effect.map(({ readiness_score }) => readiness_score ?? "no score"),
          Effect.catchTag("NOT_FOUND", () => Effect.succeed("not scanned" as const))
        )
        yield* withHeaders(badgeHeaders)
        return badge(score)
      })
    })
  })
)

export const layer = Layer.merge(reports, badges)
