import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { isCountry } from "./Country.ts"
import { EnvironmentWord } from "./Credential.ts"
import { AccountId, TenantTypeId } from "./Ids.ts"
import { Metadata } from "./Metadata.ts"
import { IdempotencyKey, name, textOf } from "./Text.ts"

/** A company or a human being. */
export const AccountType = Schema.Literals(["business", "person"])
export type AccountType = typeof AccountType.Type

const Email = textOf(254, /^[^\s@]+@[^\s@]+$/u, "^[^\\x00\\s@]+@[^\\x00\\s@]+$", { expected: "an e-mail address" })

const noCountry = "must be a country's code of ISO 3166-1 alpha-2 in upper case, such as DE"
const Country = Schema.String.check(
  Schema.isPattern(/^[A-Z]{2}$/u, { message: noCountry }).abort(),
  Schema.makeFilter((code) => (isCountry(code) ? undefined : noCountry))
)

/** Who owns wallets, endpoints and agents within a tenant. */
export const Account = Schema.Struct({
  id: AccountId,
  tenant_id: TenantTypeId,
  environment: EnvironmentWord,
  type: AccountType,
  name: Schema.String,
  email: Schema.NullOr(Schema.String),
  country: Schema.NullOr(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Json),
  created_at: Moment,
  updated_at: Moment
}).annotate({ identifier: "Account" })
export type Account = typeof Account.Type

/** What an account is made from. */
export const CreateAccount = Schema.Struct({
  name: name(255),
  type: Schema.optionalKey(AccountType),
  email: Schema.optionalKey(Schema.NullOr(Email)),
  country: Schema.optionalKey(Schema.NullOr(Country)),
  metadata: Schema.optionalKey(Metadata),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "CreateAccount" })
export type CreateAccount = typeof CreateAccount.Type

/** What is meant by what a new account leaves out. */
export const accountDefaults = {
  type: "business",
  email: null,
  country: null,
  metadata: {}
} as const satisfies Required<Omit<CreateAccount, "name" | "idempotency_key">>
