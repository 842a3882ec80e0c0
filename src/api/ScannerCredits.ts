import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CreditBalance, CreditEntry } from "#domain/ScannerCredit.ts"
import { Authorization, Requires, scanning } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { cursorPage, cursorQuery, Position } from "./Pagination.ts"

const balance = HttpApiEndpoint.get("balance", "/credits/balance", { success: CreditBalance })
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "What is left",
      description:
        "The credits of the caller's tenant: what is left, and what was granted and consumed in all (without what was returned).",
      answer: { balance: 993, granted_total: 1000, consumed_total: 7 }
    })
  )

const ledger = HttpApiEndpoint.get("ledger", "/credits/ledger", {
  query: cursorQuery(Position),
  success: cursorPage(CreditEntry, Position)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "Every movement of credits",
      description:
        "Newest first, and never changed. `source` is the id of the request that was charged; a `refund` has the source of what it " +
        "returns. Pass `next_cursor` as `cursor` to read on; it is null at the end.",
      answer: {
        data: [
          {
            id: "42",
            delta: -1,
            reason: "consume",
            source: "req_01h455vb4pex5vsknk084sn02q",
            balance_after: 993,
            metadata: { operation: "scan", domain: "shop.example.com" },
            created_at: "2026-01-02T03:04:05.678Z"
          }
        ],
        pagination: { limit: 50, next_cursor: null }
      }
    })
  )

export class ScannerCreditsApi extends HttpApiGroup.make("scanner_credits")
  .add(balance, ledger)
  .middleware(Authorization)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({
      title: "Scanner credits",
      description: "What the scanner's operations cost, and what is left."
    })
  ) {}
