import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Batch, CreateBatch } from "#domain/Batch.ts"
import { BatchId } from "#domain/Ids.ts"
import { IdempotencyKeyReused, WalletFrozen } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { idempotencyHeaders } from "./Idempotency.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const batch = {
  batch_id: "bat_01h455vb4pex5vsknk084sn02q",
  total: 2,
  completed: 1,
  failed: 1,
  replayed: 0,
  status: "partially_completed",
  transfers: [
    { index: 0, id: "tx_01h455vb4pex5vsknk084sn02r", status: "completed", failure_reason: null, replayed: false },
    {
      index: 1,
      id: "tx_01h455vb4pex5vsknk084sn02s",
      status: "failed",
      failure_reason: "insufficient_funds",
      replayed: false
    }
  ],
  created_at: "2026-01-02T03:04:05.678Z"
} as const

const create = HttpApiEndpoint.post("create", "/transfers/batch", {
  headers: idempotencyHeaders,
  payload: CreateBatch,
  success: Batch.pipe(HttpApiSchema.status(201)),
  error: problems(NotFound, WalletFrozen, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "transfers", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create a batch of transfers",
      description:
        "Makes 1 to 1,000 transfers of type `internal` at once, in the order given. Each succeeds or fails alone: one that cannot be " +
        "made (too little money, an unknown wallet or account, another currency or network) is a transfer with status `failed` and a " +
        "`failure_reason`, and those after it are made all the same. An item goes to `to_wallet_id`, or to the oldest active wallet " +
        "that `to_account_id` has in `currency` on the payer's network. Without `from_wallet_id` the caller's own account pays, from " +
        "its oldest active wallet of the item's currency on the network of the destination. A body with anything undecodable in it (an " +
        "amount that is none, no items, too many) makes nothing, and the refusal names the item; a frozen `from_wallet_id` makes " +
        "nothing either. `status` is `completed`, `partially_completed` or `failed`, as all, some or none of the items are completed.\n\n" +
        "The batch's idempotency key, in the body or as header, makes the batch once in 24 hours. An item's own `idempotency_key` " +
        "stands for one transfer, whatever became of it and whether it was asked for in a batch or alone: with the same parameters " +
        "the item shows that earlier transfer, which keeps the batch it came from, also when another wallet would pay by default by " +
        "now; with others it fails with `idempotency_key_reused`. Such a line is `replayed`: the batch moved nothing for it, though " +
        "`completed` and `failed` count it; `replayed` beside them is how many there are. The body may have 1 MiB in all, so 1,000 items have room for about 800 bytes of memo each.",
      body: {
        from_wallet_id: "wal_01h455vb4pex5vsknk084sn02t",
        transfers: [
          {
            to_account_id: "acc_01h455vb4pex5vsknk084sn02v",
            amount: "12.50",
            currency: "USDC",
            memo: "Payout 1",
            idempotency_key: "payout-1"
          },
          { to_wallet_id: "wal_01h455vb4pex5vsknk084sn02w", amount: "7.25", currency: "USDC" }
        ],
        idempotency_key: "payouts-2026-01-02"
      },
      answer: batch
    })
  )

const get = HttpApiEndpoint.get("get", "/transfers/batch/:id", {
  params: { id: BatchId },
  success: Batch,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "transfers", action: "read" })
  .annotateMerge(
    documented({
      summary: "Get a batch of transfers",
      description:
        "What became of each item, in the order of the request. `GET /v1/transfers?batch_id=…` lists the transfers that the batch " +
        "made itself: those that are not `replayed`.",
      answer: batch
    })
  )

export class BatchesApi extends HttpApiGroup.make("batches")
  .add(create, get)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(OpenApi.annotations({ title: "Batches", description: "Many transfers in one request." })) {}
