import type { LedgerCommand } from "./Group.ts"

/**
 * What a command is found by that moves nothing, when it is posted again because its answer was lost. Its fence would only say that
 * the thing has changed, by itself or by somebody else: decided anew, it would be done once more, after what others did meanwhile.
 */
export const once = (tenant_id: string, id: string): Required<Pick<LedgerCommand, "idempotency" | "result">> => ({
  idempotency: { tenant_id, operation: "command", key: id, fingerprint: "" },
  result: () => ({})
})
