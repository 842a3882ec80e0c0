import { HttpApi, HttpApiMiddleware, OpenApi } from "effect/http-api"
import { InvalidRequest, NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { eventPatterns } from "#domain/Webhook.ts"
import { AccountsApi } from "./Accounts.ts"
import { AdministrationApi } from "./Administration.ts"
import { AgentChannelApi } from "./AgentChannel.ts"
import { AgentsApi } from "./Agents.ts"
import { AgentSessionsApi } from "./AgentSessions.ts"
import { ApiKeysApi } from "./ApiKeys.ts"
import { BatchesApi } from "./Batches.ts"
import { ContextApi } from "./ContextApi.ts"
import { asksOf, saidOf, securitySchemes } from "./Credentials.ts"
import { DiscoveryApi } from "./Discovery.ts"
import { DisputesApi } from "./Disputes.ts"
import { EndpointsApi } from "./Endpoints.ts"
import { FacilitatorApi } from "./Facilitator.ts"
import { explain } from "./Glossary.ts"
import { PaymentsApi } from "./Payments.ts"
import { listParameters } from "./Pagination.ts"
import { problems } from "./Problems.ts"
import {
  AmountTooSmall,
  BodyTooLarge,
  InternalError,
  InvalidAmount,
  RequestTimeout,
  UnholdableAmount,
  UnsupportedMediaType
} from "./Refusals.ts"
import { PortalTokensApi } from "./PortalTokens.ts"
import { QuotesApi } from "./Quotes.ts"
import { RefundsApi } from "./Refunds.ts"
import { headed, responseHeaders } from "./ResponseHeaders.ts"
import { SandboxChainApi } from "./SandboxChain.ts"
import { ScanBatchesApi } from "./ScanBatches.ts"
import { ScannerCreditsApi } from "./ScannerCredits.ts"
import { ScannerKeysApi } from "./ScannerKeys.ts"
import { BadgesApi, ScannerReportsApi } from "./ScannerReports.ts"
import { ScannerRubricApi } from "./ScannerRubric.ts"
import { ScansApi } from "./Scans.ts"
import { SchedulesApi } from "./Schedules.ts"
import { ShoppingTestsApi } from "./ShoppingTests.ts"
import { paymentOffer, selling } from "./Sold.ts"
import { oneNeeded, oneOnly } from "./Spelling.ts"
import { StreamsApi } from "./Streams.ts"
import { SystemApi } from "./System.ts"
import { TransfersApi } from "./Transfers.ts"
import { UsersApi } from "./Users.ts"
import { UserSessionsApi } from "./UserSessions.ts"
import { WalletsApi } from "./Wallets.ts"
import { webhookBodies } from "./WebhookBodies.ts"
import { WebhooksApi } from "./Webhooks.ts"

/** Refuses what does not decode, naming every wrong field; covers every operation. */
export class Decoding extends HttpApiMiddleware.Service<Decoding>()("turnpike/api/Api/Decoding", {
  error: problems(
    InvalidRequest,
    NotFound,
    InvalidAmount,
    AmountTooSmall,
    UnholdableAmount,
    BodyTooLarge,
    UnsupportedMediaType,
    RequestTimeout,
    InternalError,
    ServiceUnavailable
  )
}) {}

/** Schemas of records are named after the record: the description only knows the wire. */
const wireNames = (spec: Record<string, unknown>): Record<string, unknown> => {
  const schemas = Object(Object(spec["components"])["schemas"])
  const taken = new Set(Object.keys(schemas))
  let text = JSON.stringify(spec)
  for (const name of taken) {
    const plain = name.replace(/Encoded$/, "")
    if (plain !== name && !taken.has(plain))
      text = text.replaceAll(`/${name}"`, `/${plain}"`).replaceAll(`"${name}":`, `"${plain}":`)
  }
  return JSON.parse(text)
}

const upTo = (digits: number) => (digits === 0 ? "" : digits === 1 ? "\\d?" : `\\d{0,${digits}}`)

/** A decimal above 0. Written without looking ahead, which some readers cannot. */
const above0 = (decimals: number) => {
  const fractions = Array.from(
    { length: decimals },
    (_, zeros) => `${"0".repeat(zeros)}[1-9]${upTo(decimals - 1 - zeros)}`
  )
  return `^(?:[1-9]\\d{0,12}(?:\\.\\d{1,${decimals}})?|0\\.(?:${fractions.join("|")}))$`
}

/** Of these fields, one is sent and the others are not. */
const alternatives: Readonly<Record<string, readonly [string, string]>> = {
  BatchItem: ["to_account_id", "to_wallet_id"],
  Pay: ["payment_request_id", "url"]
}

/** What is meant where a decoder takes more, or says less, than a reader should know. */
const meanings = {
  Amount: {
    anyOf: [
      { type: "string", pattern: above0(6) },
      { type: "number", minimum: 0.000001, maximum: 999_999_999.999999 }
    ],
    description:
      "More than 0, with at most 6 decimals: a decimal string, or a JSON number below 1000000000 that is exact"
  },
  AmountOrZero: {
    anyOf: [
      { type: "string", pattern: "^(0|[1-9]\\d{0,12})(\\.\\d{1,6})?$" },
      { type: "number", minimum: 0, maximum: 999_999_999.999999 }
    ],
    description:
      "Not negative, with at most 6 decimals: a decimal string, or a JSON number below 1000000000 that is exact"
  },
  FlowRate: {
    type: "string",
    pattern: above0(18),
    description: "Money per second: more than 0 and below 10000000000000, with at most 18 decimals"
  },
  Decimal: {
    type: "string",
    pattern: "^-?(0|[1-9]\\d*)\\.\\d{2,6}$",
    description: "A decimal with 2 to 6 decimals"
  },
  EventPattern: {
    type: "string",
    enum: [...eventPatterns],
    description: "A type of event, a family such as transfer.*, or *"
  }
}

/**
 * A regular expression of JavaScript escapes slashes: readers that do so themselves would do it twice, and it means nothing here.
 * Its `\d` is ten digits, and those of all scripts to readers in other languages.
 */
const plainPatterns = (part: unknown): void => {
  if (typeof part !== "object" || part === null) return
  const pattern: unknown = Reflect.get(part, "pattern")
  if (typeof pattern === "string") {
    const plain: Record<string, string> = { "/": "/", d: "[0-9]" }
    Object.assign(part, { pattern: pattern.replace(/\\(.)/gs, (escape, of) => plain[of] ?? escape) })
  }
  Object.values(part).forEach(plainPatterns)
}

/** Objects of the caller's own making, in which generators would otherwise see objects that are always empty. */
const open = (part: unknown): void => {
  if (typeof part !== "object" || part === null) return
  if (Reflect.get(part, "type") === "object" && !("properties" in part || "additionalProperties" in part)) {
    Object.assign(part, { additionalProperties: true })
  }
  Object.values(part).forEach(open)
}

const opened = (part: unknown): void => {
  if (typeof part !== "object" || part === null) return
  if (Reflect.get(part, "additionalProperties") === false) Reflect.deleteProperty(part, "additionalProperties")
  Object.values(part).forEach(opened)
}

/** Records grow: what is answered may have members that its reader does not know yet. What is sent may not, and is refused for it. */
const growing = (paths: object, schemas: Record<string, unknown>): void => {
  const sent = new Set<string>()
  const send = (part: unknown): void => {
    for (const [, name = ""] of JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (sent.has(name)) continue
      sent.add(name)
      send(schemas[name])
    }
  }
  for (const operation of Object.values(paths).flatMap((path) => Object.values(Object(path)))) {
    send(Object(operation).requestBody)
    opened(Object(operation).responses)
  }
  for (const [name, schema] of Object.entries(schemas)) if (!sent.has(name)) opened(schema)
}

const shown: Readonly<Record<string, { readonly description: string } | undefined>> = listParameters

/** A query has text alone, so a flag is decoded as one of two words. To callers it is a boolean, which is written alike. */
const flag = (parameter: { readonly in: string; readonly schema: { readonly enum?: ReadonlyArray<string> } }) => {
  if (parameter.in === "query" && parameter.schema.enum?.join() === "true,false") {
    Object.assign(parameter, { schema: { type: "boolean" } })
  }
}

interface Described {
  readonly description?: string
  readonly security?: ReadonlyArray<object>
}

/** Says of every operation who may call it, to readers and to programs. */
const admitting = (paths: Record<string, Record<string, Described | undefined> | undefined>) => {
  for (const asks of asksOf(Api)) {
    const operation = paths[asks.path]?.[asks.method.toLowerCase()]
    if (operation === undefined) continue
    const { description = "", security = [] } = operation
    // Where a credential may be left out, programs that are made from this send the one that they have.
    const isOptional = asks.kinds.length > 0 && security.length === 0
    Object.assign(operation, {
      description: `${description}\n\n${saidOf(asks)}`,
      ...(isOptional && { security: [{}, { bearer: [] }] }),
      ...(asks.kinds.length > 0 && { "x-credentials": asks.kinds }),
      ...(asks.scope !== undefined && { "x-scope": asks.scope })
    })
  }
}

/** The description as callers need it. */
const described = (spec: Record<string, unknown>): Record<string, unknown> => {
  const named = wireNames(spec)
  admitting(Object(named["paths"]))
  selling(Object(named["paths"]))
  headed(Object(named["paths"]))
  Object.assign(Object(named["components"]), { headers: responseHeaders, securitySchemes })
  Object.assign(Object(Object(named["components"])["schemas"]), meanings, { PaymentOffer: paymentOffer })
  for (const [name, fields] of Object.entries(alternatives)) {
    const schemas = Object(Object(named["components"])["schemas"])
    Object.assign(Object(schemas[name]), oneNeeded(...fields), oneOnly(...fields))
  }
  const { parameters, schemas, webhooks } = webhookBodies(Object(Object(named["components"])["schemas"]))
  Object.assign(Object(named["components"]), { parameters })
  Object.assign(Object(Object(named["components"])["schemas"]), schemas)
  open([named["components"], named["paths"]])
  plainPatterns([named["components"], named["paths"]])
  growing(Object(named["paths"]), Object(Object(named["components"])["schemas"]))
  for (const path of Object.values(Object(named["paths"]))) {
    for (const operation of Object.values(Object(path))) {
      for (const parameter of Object(operation).parameters ?? []) {
        flag(parameter)
        const about = parameter.in === "query" ? shown[parameter.name] : undefined
        if (about === undefined || parameter.description !== undefined) continue
        const { description, ...schema } = about
        Object.assign(parameter, { description, schema })
      }
    }
  }
  explain(Object(named["paths"]), Object(Object(named["components"])["schemas"]))
  return { ...named, webhooks }
}

/** The whole public contract: one group per resource family. */
export class Api extends HttpApi.make("turnpike")
  .add(
    ContextApi,
    AccountsApi,
    AgentsApi,
    AgentSessionsApi,
    AgentChannelApi,
    ApiKeysApi,
    UsersApi,
    UserSessionsApi,
    PortalTokensApi,
    AdministrationApi,
    ScansApi,
    ShoppingTestsApi,
    ScanBatchesApi,
    ScannerKeysApi,
    ScannerCreditsApi,
    ScannerReportsApi,
    BadgesApi,
    ScannerRubricApi,
    WalletsApi,
    WebhooksApi,
    QuotesApi,
    TransfersApi,
    BatchesApi,
    StreamsApi,
    SchedulesApi,
    RefundsApi,
    DisputesApi,
    EndpointsApi,
    PaymentsApi,
    DiscoveryApi,
    FacilitatorApi,
    SandboxChainApi
  )
  .middleware(Decoding)
  .add(SystemApi)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all", onExcessProperty: "error" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Turnpike",
      version: "1.0.0",
      license: { name: "MIT", url: "https://opensource.org/license/mit" },
      description:
        "The toll road for agents: wallets over a double-entry ledger and a pay-per-call gateway.\n\n" +
        "Amounts are decimal strings. Every refusal is `application/problem+json` with a stable `code` and the id of the request; " +
        "`X-Request-Id` is on every response, the caller's own if it is 1 to 128 printable ASCII characters without spaces, and so is `X-Environment`, `test` or `live`. Records grow: read past members of an answer that you do not know. A body with one that we do not know is refused; a query parameter that we do not know is passed over. `X-Service-Error` repeats the `code` of a refusal that is ours, and no answer of an origin behind the gateway has it. " +
        "Operations that declare the header `Idempotency-Key` are done once in 24 hours under one, which the body may name as `idempotency_key`: " +
        "those that move a wallet's money (but for the facilitator, where the authorisation is the key), cancel transfers, change schedules, " +
        "streams or disputes, or make wallets, accounts, endpoints, quotes, scans, tests of shops, batches of scans and replays. Others pass " +
        "over it, also those that show a secret once.",
      transform: described
    })
  ) {}
