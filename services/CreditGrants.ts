import { Context, Effect, Layer, Schema } from "effect"
import type { IdempotencyClaim, Posted } from "#domain/Command.ts"
import type { TenantId } from "#domain/Ids.ts"
import { type LedgerAccount, systemAccount } from "#domain/LedgerAccount.ts"
import { maxMicros, unit } from "#domain/Money.ts"
import { AmountTooLarge, type IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import type { NotFound } from "#domain/Refusal.ts"
import { CreditGrant } from "#domain/ScannerCredit.ts"
import { Ledger } from "./Ledger.ts"
import { newUuid } from "./NewId.ts"
import { Tenants } from "./Tenants.ts"

/** What the operator gives of the credits that pay for the scanner. */
export class CreditGrants extends Context.Service<
  CreditGrants,
  {
    /** Gives a tenant so many whole credits. A replay of the same idempotency claim answers what the first call answered. */
    grant(
      order: { readonly tenant_id: TenantId; readonly credits: number },
      claim?: IdempotencyClaim
    ): Effect.Effect<
      { readonly grant: CreditGrant; readonly replayed: boolean },
      NotFound | AmountTooLarge | IdempotencyKeyReused
    >
  }
>()("turnpike/services/CreditGrants") {
  static readonly layer = Layer.effect(
    CreditGrants,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const tenants = yield* Tenants

      const tooMany = Effect.flatMap(Effect.orDie(ledger.account(issuance)), ({ posted }) =>
        Effect.fail(new AmountTooLarge({ maximum: `${(maxMicros + posted) / unit}` }))
      )

      const grant = Effect.fn("CreditGrants.grant")(function* (
        { credits, tenant_id }: { readonly tenant_id: TenantId; readonly credits: number },
        claim?: IdempotencyClaim
      ) {
        yield* tenants.get(tenant_id)
        const after = ({ at }: Posted, purse: LedgerAccount | undefined): CreditGrant => ({
          tenant_id,
          credits,
          balance: Number((purse?.posted ?? 0n) / unit),
          created_at: at
        })
        const id = newUuid()
        const posted = yield* ledger
          .post({
            id,
            steps: [
              {
                kind: "transfer",
                debit: issuance,
                credit: tenant_id,
                currency: "CREDIT",
                amount: BigInt(credits) * unit,
                code: "grant"
              }
            ],
            idempotency: claim,
            result: (done, account) => encode(after(done, account(tenant_id)))
          })
          .pipe(
            Effect.catchTags({
              SAME_WALLET: Effect.die,
              CURRENCY_MISMATCH: Effect.die,
              WALLET_FROZEN: Effect.die,
              // All that was ever issued is counted in one account, too.
              INSUFFICIENT_BALANCE: () => tooMany,
              HOLD_NOT_OPEN: Effect.die
            })
          )
        // Under its own id it was this very call, whose first answer was lost on the way from the database.
        const replayed = posted.command_id !== id
        if (posted.result !== undefined) return { grant: yield* Effect.orDie(decode(posted.result)), replayed }
        return { grant: after(posted, yield* ledger.account(tenant_id)), replayed }
      })

      return CreditGrants.of({ grant })
    })
  )
}

const issuance = systemAccount("issuance", "CREDIT")
const decode = Schema.decodeUnknownEffect(CreditGrant)
const encode = Schema.encodeSync(CreditGrant)
