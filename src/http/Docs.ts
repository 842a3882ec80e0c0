import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiSwagger, OpenApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { declaredRefusals, describe } from "#api/Problems.ts"
import { serviceInfo } from "#domain/Discovery.ts"
import { publicPrefix } from "#domain/PublicPrefix.ts"
import { Deployment } from "#services/Deployment.ts"
import { agentLine, agentName } from "#services/SiteVisits/Vantages.ts"
import { dashboardPage, homePage, icon, llmsText } from "./FrontPages.ts"
import { Paths } from "./Paths.ts"
import { packed } from "./Docs/Packed.ts"
import { referencePage } from "./Docs/Reference.ts"
import { conductPage } from "./Reports/ConductPage.ts"
import { pageHeaders } from "./Reports/Page.ts"
import { policyOf } from "./ScriptPolicy.ts"

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")

/** Every code an operation declares, with what it says about itself; several classes may share one code. */
const catalogue = (): string => {
  const codes = new Map<
    string,
    { readonly status: number; readonly titles: Set<string>; readonly fields: Set<string> }
  >()
  for (const refusal of declaredRefusals()) {
    const { code, status, title } = describe(refusal)
    const entry = codes.get(code) ?? { status, titles: new Set(), fields: new Set() }
    entry.titles.add(title)
    for (const name of Object.keys(refusal.fields)) if (name !== "_tag") entry.fields.add(name)
    codes.set(code, entry)
  }
  const rows = [...codes]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(
      ([code, { status, titles, fields }]) =>
        `<tr id="${code}"><td><a href="#${code}"><code>${code}</code></a></td><td>${status}</td>` +
        `<td>${[...titles].map(escape).join("<br>")}</td><td>${[...fields].map((name) => `<code>${escape(name)}</code>`).join(" ")}</td></tr>`
    )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Turnpike: error codes</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-bottom: 1px solid #ddd }
tr:target { background: #fff3c4 }
code { overflow-wrap: anywhere }
@media (min-width: 44.01rem) { td:first-child { white-space: nowrap } }
@media (max-width: 44rem) { thead { display: none } tr { display: block; padding: .75rem 0; border-bottom: 1px solid #ddd } td { display: block; border: 0; padding: .1rem 0 } }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #181818 } th, td, tr { border-color: #444 } tr:target { background: #4a3f10 } a { color: #8ab4f8 } }
</style>
</head>
<body>
<main>
<h1>Error codes</h1>
<p>Every refusal is <code>application/problem+json</code> with <code>type</code>, <code>title</code>, <code>status</code>,
<code>detail</code>, a stable <code>code</code>, the <code>request_id</code>, and <code>details</code> where there are facts.
The operations are described in the <a href="../docs">API reference</a>.</p>
<table>
<thead><tr><th>Code</th><th>Status</th><th>Meaning</th><th>Details</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>
</main>
</body>
</html>
`
}

/** Where visitors arrive, the description of the API, a page to read and try it, what every error code means, and who looks at merchants' sites. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const paths = yield* Paths
    const { environment, publicUrl } = yield* Deployment

    const serve = (
      path: `/${string}`,
      page: Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>
    ) => {
      paths.add("GET", path)
      return router.add("GET", path, page)
    }
    const description = yield* packed(
      Effect.sync(() =>
        HttpServerResponse.jsonUnsafe({
          ...OpenApi.fromApi(Api),
          servers: [{ url: publicUrl }],
          "x-service-info": serviceInfo(publicUrl)
        })
      )
    )
    const plain = (page: () => string) =>
      Effect.cached(Effect.sync(() => HttpServerResponse.setHeaders(HttpServerResponse.html(page()), pageHeaders)))
    const codes = yield* Effect.cached(Effect.sync(() => HttpServerResponse.html(catalogue())))
    // Its policy lets the page call the host it came from, and no other.
    const prefix = publicPrefix(publicUrl)
    const tried = prefix === "" ? Api : Api.annotate(OpenApi.Servers, [{ url: prefix }])
    // The page carries two megabytes of script, so nobody pays for it before somebody reads it.
    const reference = yield* packed(
      Effect.orDie(Effect.flatten(HttpRouter.toHttpEffect(HttpApiSwagger.layer(tried, { path: "/docs" })))).pipe(
        Effect.scoped,
        Effect.map(({ body }) =>
          body._tag === "Uint8Array" ? referencePage(new TextDecoder().decode(body.body), publicUrl) : ""
        ),
        Effect.map((page) => HttpServerResponse.html(page))
      ),
      (page) => ({ "content-security-policy": policyOf(page) })
    )

    yield* serve("/openapi.json", description)
    yield* serve("/docs", reference)
    yield* serve("/docs/errors", codes)
    yield* serve("/docs/scanner", yield* plain(() => conductPage(agentLine(publicUrl), agentName)))
    yield* serve("/", yield* plain(() => homePage(publicUrl, environment)))
    const forModels = llmsText(publicUrl, environment)
    yield* serve("/llms.txt", Effect.succeed(HttpServerResponse.text(forModels)))
    const image = { contentType: "image/svg+xml", headers: { "cache-control": "public, max-age=86400" } }
    yield* serve("/favicon.ico", Effect.succeed(HttpServerResponse.text(icon, image)))
    yield* serve("/dashboard", yield* plain(() => dashboardPage(publicUrl)))
  })
)
