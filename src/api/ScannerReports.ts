import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import { ScanId } from "#domain/Scan.ts"
import { Requires, scanning } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { problem, problems } from "./Problems.ts"
import { DomainText } from "./Scans.ts"
import { ReportReaders, Visitors } from "./Visitors.ts"

const html = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/html" }))
const svg = Schema.String.pipe(HttpApiSchema.asText({ contentType: "image/svg+xml" }))

const signed = {
  params: { id: ScanId },
  query: { signature: Schema.optionalKey(Schema.String.check(Schema.isMaxCodePoints(100))) },
  success: html,
  error: problems(NotFound, Forbidden)
}
const shared =
  "The record's `report_url` opens it for whoever has that address, without a key; 403 `FORBIDDEN` when the signature is another's. " +
  "Without a signature a key with the scope `read` is needed."

const scan = HttpApiEndpoint.get("scan", "/scan/:id/report", signed)
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "A scan as a page",
      description: `A page to read, print and forward: scores, what to do first, and every check with its evidence. ${shared}`,
      answer: '<!doctype html>\n<html lang="en">…</html>\n',
      answerType: "text/html"
    })
  )

const test = HttpApiEndpoint.get("test", "/test/:id/report", signed)
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "A test as a page",
      description: `A page to read, print and forward: how far the agent came, and what stood in its way. ${shared}`,
      answer: '<!doctype html>\n<html lang="en">…</html>\n',
      answerType: "text/html"
    })
  )

export class ScannerReportsApi extends HttpApiGroup.make("scanner_reports")
  .add(scan, test)
  .middleware(ReportReaders)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({ title: "Scanner reports", description: "Scans and tests as pages for people." })
  ) {}

const badge = HttpApiEndpoint.get("badge", "/badge/:domain", {
  params: { domain: DomainText },
  success: svg,
  error: problem(DomainNotAllowed)
}).annotateMerge(
  documented({
    summary: "A badge",
    description:
      "The newest readiness score of a domain as an SVG for the merchant's own pages; `.svg` may follow the domain. For everybody. " +
      "`not scanned` when there is none, and `no score` when the site could not be reached the last time, or too little of it was seen.",
    answer: '<svg xmlns="http://www.w3.org/2000/svg">…</svg>',
    answerType: "image/svg+xml"
  })
)

export class BadgesApi extends HttpApiGroup.make("badges")
  .add(badge)
  .middleware(Visitors)
  .prefix("/v1/scanner")
  .annotateMerge(OpenApi.annotations({ title: "Badges", description: "A merchant's score for its own pages." })) {}
