import { Result } from "effect"
import { parseRate } from "#domain/FlowRate.ts"
import { StreamId, TenantId, TransferId, WalletId } from "#domain/Ids.ts"
import type { StreamState } from "#domain/MoneyStream.ts"
import * as Change from "#domain/MoneyStream/Change.ts"

const uuid = (digit: number) => `00000000-0000-7000-8000-00000000000${digit}`
export const rate = (text: string) => parseRate(text) ?? 0n
export const begin = new Date("2026-01-01T00:00:00.000Z")
export const later = (millis: number, since = begin) => new Date(since.getTime() + millis)
export const day = 86_400_000
export const year = 365 * day

export const started = (deposit: bigint, flow_rate: bigint, buffer = 0n): Change.Change =>
  Result.getOrThrow(
    Change.start(
      {
        id: StreamId.make(uuid(1)),
        tenant_id: TenantId.make(uuid(2)),
        from_wallet_id: WalletId.make(uuid(3)),
        to_wallet_id: WalletId.make(uuid(4)),
        currency: "USDC",
        flow_rate,
        buffer,
        metadata: {},
        deposit,
        transfer_id: TransferId.make(uuid(5))
      },
      begin
    )
  )
export const streamOf = (...given: Parameters<typeof started>): StreamState => started(...given).stream
