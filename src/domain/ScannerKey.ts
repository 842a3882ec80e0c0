import { Schema } from "effect"
import { ApiKey, IssuedApiKey, requiredScope } from "./Credential.ts"
import { ScannerScope } from "./Principal.ts"
import { name } from "./Text.ts"

/** What a scanner key is made from. */
export const CreateScannerKey = Schema.Struct({
  name: name(255),
  scopes: Schema.Array(ScannerScope).check(Schema.isMinLength(1), Schema.isMaxLength(8))
}).annotate({ identifier: "CreateScannerKey" })
export type CreateScannerKey = typeof CreateScannerKey.Type

/** What whoever makes such a key must be able to do without it. */
export const neededFor = (scopes: ReadonlyArray<ScannerScope>): ReadonlyArray<string> =>
  scopes.map((scope) => requiredScope("scanner", scope === "read" ? "read" : "write"))

/** A scanner key as it can be shown again. */
export const ScannerKey = Schema.Struct(ApiKey.fields).annotate({ identifier: "ScannerKey" })
export type ScannerKey = typeof ScannerKey.Type

/** A key that was just made: the only time its plaintext is shown. */
export const IssuedScannerKey = Schema.Struct(IssuedApiKey.fields).annotate({
  identifier: "IssuedScannerKey"
})
export type IssuedScannerKey = typeof IssuedScannerKey.Type
