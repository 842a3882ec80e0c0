import type { TenantId } from "#domain/Ids.ts"

/** Who pays for a call of the scanner: a tenant with its credits, or somebody who paid for this very call. */
export type ScanBuyer =
  | { readonly _tag: "Tenant"; readonly tenant_id: TenantId; readonly source: string }
  | { readonly _tag: "PaidCall"; readonly source: string }
  /** An item of a batch, whose charge is the batch's. */
  | { readonly _tag: "Batch"; readonly tenant_id: TenantId; readonly source: string }

export const tenantOf = (buyer: ScanBuyer): TenantId | undefined =>
  buyer._tag === "PaidCall" ? undefined : buyer.tenant_id

/** Who has room and turns. Of those who pay for the very call nobody knows who is who. */
export const ownerOf = (tenant_id: TenantId | undefined): string => tenant_id ?? "strangers"

/** `remaining` credits of the tenant; undefined of a call that somebody paid for, and of an item of a batch. */
export interface Billed<A> {
  readonly record: A
  readonly charged: number
  readonly remaining: number | undefined
}

/** The same of an order that may have been made before under its key: then it was charged before. */
export interface BilledOnce<A> extends Billed<A> {
  readonly replayed: boolean
}
