import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { BasePrice, CountNumber, defaultBasePrice, MoneyNumber, VolumeDiscounts } from "./EndpointPrice.ts"
import { isPlain } from "./GatewayPath.ts"
import { dashed } from "./HttpHeaders.ts"
import { AccountUuid, EndpointId, TenantId, WalletId } from "./Ids.ts"
import { Currency } from "./Money.ts"
import { Network, usualMoney } from "./Network.ts"
import { maxOriginUrlLength } from "./OriginUrl.ts"
import { grants, type Principal } from "./Principal.ts"
import { IdempotencyKey, name, text } from "./Text.ts"

export const EndpointMethod = Schema.Literals(["GET", "POST", "PUT", "DELETE", "PATCH", "ANY"])
export type EndpointMethod = typeof EndpointMethod.Type

export const EndpointStatus = Schema.Literals(["active", "paused", "disabled"])
export type EndpointStatus = typeof EndpointStatus.Type

/** Which answers of the origin cost money: those below 400, or every one. */
export const ChargeOn = Schema.Literals(["success", "response"])

/** How a caller of x402 may pay: the price itself, or (EVM only) a signed maximum of which the origin says how much is taken. */
export const EndpointScheme = Schema.Literals(["exact", "upto"])
export type EndpointScheme = typeof EndpointScheme.Type

const Schemes = Schema.Array(EndpointScheme).check(
  Schema.makeFilter(
    (schemes) =>
      (schemes.length > 0 && new Set(schemes).size === schemes.length) || "must name one scheme or both, each once",
    { toJsonSchema: () => ({ minItems: 1, uniqueItems: true }) }
  )
)
const EndpointName = name(255)
const Description = text(1000)
const Url = Schema.String.check(Schema.isMaxCodePoints(maxOriginUrlLength))
/** Milliseconds. */
export const longestTimeoutMs = 120_000
const TimeoutMs = Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: longestTimeoutMs }))
const RateLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))

const noPath = "must start with / and be a plain path; * is allowed as its last segment"

/** The protected path at the origin. A last segment `*` matches the rest. */
export const EndpointPath = Schema.String.check(
  Schema.isMaxCodePoints(500),
  Schema.isPattern(/^\/(?:\*|[!"$-)+->@-[\]-~]*(?:\/\*)?)$/u, { message: noPath }).abort(),
  Schema.makeFilter((path) => isPlain(path) || noPath)
)

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/
const reserved =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|proxy-.*|x-forwarded-.*|x-payment.*|x-service-.*|payment-.*)$/i

/** Header fields added to every request to the origin, for example a key that only Turnpike knows. */
export const ForwardHeaders = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter((headers) => {
    const entries = Object.entries(headers)
    if (entries.length > 20) return "at most 20 header fields"
    const bad = entries.find(
      // `X_Payment_Payer` is ours to an origin behind CGI or WSGI.
      ([name, value]) => !headerName.test(name) || reserved.test(dashed(name)) || !/^[\t\x20-\x7e]{0,2000}$/.test(value)
    )
    return bad === undefined || `${bad[0].slice(0, 100)} cannot be added to a request`
  })
)

/** A priced endpoint, in the camelCase of its wire. `Schema.toType` of it is its row under the same names. */
export const Endpoint = Schema.Struct({
  id: EndpointId,
  tenantId: TenantId,
  accountId: AccountUuid,
  name: EndpointName,
  description: Schema.NullOr(Description),
  path: EndpointPath,
  method: EndpointMethod,
  basePrice: BasePrice,
  currency: Currency,
  paymentAddress: Schema.String,
  assetAddress: Schema.NullOr(Schema.String),
  network: Network,
  totalCalls: CountNumber,
  totalRevenue: MoneyNumber,
  status: EndpointStatus,
  volumeDiscounts: VolumeDiscounts,
  webhookUrl: Schema.NullOr(Url),
  originUrl: Schema.NullOr(Url),
  gatewayUrl: Schema.String,
  walletId: WalletId,
  timeoutMs: TimeoutMs,
  rateLimit: Schema.NullOr(RateLimit),
  chargeOn: ChargeOn,
  schemes: Schemes,
  mpp: Schema.Boolean,
  // Whatever was taken once can be read.
  forwardHeaders: Schema.Record(Schema.String, Schema.String),
  createdAt: Moment,
  updatedAt: Moment
}).annotate({ identifier: "Endpoint" })
export type Endpoint = typeof Endpoint.Type

/** What registers an endpoint. Everything left out has the default its field documents. */
export const NewEndpoint = Schema.Struct({
  name: EndpointName,
  path: EndpointPath,
  method: EndpointMethod,
  accountId: Schema.optionalKey(AccountUuid),
  basePrice: Schema.optionalKey(BasePrice),
  currency: Schema.optionalKey(Currency),
  network: Schema.optionalKey(Network),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  volumeDiscounts: Schema.optionalKey(VolumeDiscounts),
  webhookUrl: Schema.optionalKey(Schema.NullOr(Url)),
  originUrl: Schema.optionalKey(Schema.NullOr(Url)),
  walletId: Schema.optionalKey(WalletId),
  timeoutMs: Schema.optionalKey(TimeoutMs),
  rateLimit: Schema.optionalKey(Schema.NullOr(RateLimit)),
  chargeOn: Schema.optionalKey(ChargeOn),
  schemes: Schema.optionalKey(Schemes),
  mpp: Schema.optionalKey(Schema.Boolean),
  forwardHeaders: Schema.optionalKey(ForwardHeaders),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "NewEndpoint" })
export type NewEndpoint = typeof NewEndpoint.Type

/** What is meant by what a new endpoint leaves out, wherever it receives. */
export const endpointDefaults = {
  description: null,
  basePrice: defaultBasePrice,
  volumeDiscounts: [],
  webhookUrl: null,
  originUrl: null,
  timeoutMs: 30_000,
  rateLimit: null,
  chargeOn: "success",
  schemes: ["exact"],
  mpp: true,
  forwardHeaders: {}
} as const satisfies Required<
  Omit<NewEndpoint, "name" | "path" | "method" | "accountId" | "walletId" | "currency" | "network" | "idempotency_key">
>

/** All that decides what endpoint is made. A wallet that is named says its money itself. */
export const endpointMeant = ({ account_id, environment }: Principal, wanted: NewEndpoint) => ({
  ...endpointDefaults,
  accountId: account_id,
  ...(wanted.walletId === undefined && usualMoney(environment)),
  ...wanted
})

/** The fields that may change. What is left out stays; null clears. */
export const EndpointChange = Schema.Struct({
  name: Schema.optionalKey(EndpointName),
  description: Schema.optionalKey(Schema.NullOr(Description)),
  basePrice: Schema.optionalKey(BasePrice),
  volumeDiscounts: Schema.optionalKey(VolumeDiscounts),
  status: Schema.optionalKey(EndpointStatus),
  webhookUrl: Schema.optionalKey(Schema.NullOr(Url)),
  originUrl: Schema.optionalKey(Schema.NullOr(Url)),
  timeoutMs: Schema.optionalKey(TimeoutMs),
  rateLimit: Schema.optionalKey(Schema.NullOr(RateLimit)),
  chargeOn: Schema.optionalKey(ChargeOn),
  schemes: Schema.optionalKey(Schemes),
  mpp: Schema.optionalKey(Schema.Boolean),
  forwardHeaders: Schema.optionalKey(ForwardHeaders)
}).annotate({ identifier: "EndpointChange" })
export type EndpointChange = typeof EndpointChange.Type

/** A disabled endpoint comes back as active only. */
export const mayBecome = (from: EndpointStatus, to: EndpointStatus): boolean => from !== "disabled" || to !== "paused"

/** Whether the endpoint serves requests of this method. `ANY` is every method that means a call. */
export const serves = (endpoint: EndpointMethod, method: string): boolean =>
  endpoint === "ANY" ? anyMethod.has(method) : endpoint === method

const anyMethod = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])

/** A maximum is signed through contracts that exist on EVM chains only. */
export const schemesOn = (network: Network): ReadonlyArray<EndpointScheme> =>
  network.startsWith("base-") ? ["exact", "upto"] : ["exact"]

/** Whether all of them can be signed there. */
export const schemesFit = (schemes: ReadonlyArray<EndpointScheme>, network: Network): boolean =>
  schemes.every((scheme) => schemesOn(network).includes(scheme))

/** The value of `Allow` when the method does not match. */
export const allowed = (endpoint: EndpointMethod): string =>
  endpoint === "ANY" ? [...anyMethod, "OPTIONS"].join(", ") : `${endpoint}, OPTIONS`

/** No wallet of the account can receive this currency on this network. */
export class NoReceivingWallet extends Schema.TaggedError<NoReceivingWallet>()(
  "NO_RECEIVING_WALLET",
  { account_id: Schema.String, currency: Schema.String, network: Schema.String },
  {
    httpApiStatus: 422,
    title:
      "The account has no wallet of this currency on this network to be paid into: make one, or name another network"
  }
) {}

/** The endpoint as a caller with these scopes is shown it: what is forwarded may be keys to the origin, which who only reads needs not. */
export const shownTo = (scopes: ReadonlyArray<string>, endpoint: Endpoint): Endpoint => {
  if (grants(scopes, "x402", "write")) return endpoint
  const names = Object.keys(endpoint.forwardHeaders)
  return { ...endpoint, forwardHeaders: Object.fromEntries(names.map((name) => [name, "[redacted]"])) }
}
