import type { Environment } from "../Principal.ts"
import { type Declined, declined } from "./Facilitation.ts"

/** The wallets at the two addresses of a payment. A payer on a chain need not have one here. */
export interface FacilitatedParties<Party> {
  readonly payer: Party | undefined
  readonly payee: Party
}

const noReceiver = declined("invalid_payment_requirements", "payTo is the address of no wallet that may be paid here")

/**
 * Who pays whom, or that nobody may be paid there: the first of all refusals that need to look something up. In a sandbox anybody's wallet
 * is paid; live only those of whoever asks, who would otherwise have others settled at our cost.
 */
export const partiesOf = <Party extends { readonly tenant_id: string }>(
  { payee, payer }: { readonly payer: Party | undefined; readonly payee: Party | undefined },
  environment: Environment,
  asking: { readonly tenant_id: string } | undefined
): FacilitatedParties<Party> | Declined => {
  if (payee === undefined) return noReceiver
  if (environment === "live" && payee.tenant_id !== asking?.tenant_id) return noReceiver
  return { payer, payee }
}
