import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as Contracts from "#layers/RailEvm/Contracts.ts"
import type { Log } from "#layers/RailEvm/Rpc.ts"
import { transferred, use } from "./PlayedNode.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

const hash = `0x${"aa".repeat(32)}`
const { authorization } = settlement()

/** What a transaction with these logs, at their places in its block, did with a signed transfer. */
const useWith = Effect.fnUntraced(function* (
  ...logs: ReadonlyArray<readonly [place: bigint, log: Pick<Log, "address" | "topics" | "data">]>
) {
  const move = (yield* Contracts.make)(settlement({ authorization }))
  if (move === undefined) return yield* Effect.die("it is no call of a contract")
  const shown = logs.map(([logIndex, log]) => ({ ...log, logIndex, transactionHash: hash }))
  const receipt = { transactionHash: hash, blockHash: hash, blockNumber: 60n, status: 1n, logs: shown }
  return move.useIn({ to: null, input: "0x", blockNumber: 60n }, receipt)
})

describe("a signed transfer", () => {
  it.effect("is the log of the very next place in the block: where a node left that out, nothing is known", () =>
    Effect.gen(function* () {
      const [used, moved] = [use(authorization), transferred(authorization)]
      assert.deepStrictEqual(yield* useWith([4n, used], [5n, moved]), { moved: true, log: 5n })
      assert.deepStrictEqual(yield* useWith([5n, moved], [4n, used]), { moved: true, log: 5n }, "in any order")
      assert.isUndefined(yield* useWith([4n, used], [6n, moved]))
      assert.isUndefined(yield* useWith([3n, moved], [4n, used]))
    })
  )

  it.effect("is not in a log whose data is no amount", () =>
    Effect.gen(function* () {
      const known = transferred(authorization)
      for (const data of ["0x", "0x2710", `${known.data}00`] as const) {
        const found = yield* useWith([4n, use(authorization)], [5n, { ...known, data }])
        assert.deepStrictEqual(found, { moved: false, log: undefined })
      }
    })
  )

  it.effect("with a nonce that is none cannot be called for", () =>
    Effect.gen(function* () {
      const moveOf = yield* Contracts.make
      for (const nonce of ["7", `${authorization.nonce}00`, authorization.nonce.slice(0, -1)]) {
        const other: Authorization = { ...authorization, nonce }
        assert.isUndefined(moveOf(settlement({ authorization: other })))
      }
    })
  )
})
