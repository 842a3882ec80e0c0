import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHmac } from "node:crypto"
import { Currency } from "#domain/Money.ts"
import { assetOf, chainIdOf, encodeBase58 } from "#domain/Network.ts"
import { answerEvmRpc } from "#domain/protocol/EvmRpc.ts"
import { keyPair } from "#domain/protocol/SolanaKeys.ts"
import type { RpcAnswer, RpcRequest } from "#domain/protocol/NodeRpc.ts"
import { answerSolanaRpc } from "#domain/protocol/SolanaRpc.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Deployment } from "./Deployment.ts"
import { Secrets } from "./Secrets.ts"

const slotMillis = 400
const blockMillis = 2000

/** What a client sees of the chains where the ledger is the chain. */
export class SandboxChain extends Context.Service<
  SandboxChain,
  {
    /** The address that pays the fees of transactions: of a key of ours, the same in every process. */
    readonly feePayer: string
    /** A blockhash for offers, the same in every process and for everybody within a minute. `now` in milliseconds. */
    recentBlockhash(now: number): string
    /** What a node of Solana answers to a request or a batch of them; there is no node outside the sandbox. */
    askSolana(
      asked: RpcRequest | ReadonlyArray<RpcRequest>
    ): Effect.Effect<RpcAnswer | ReadonlyArray<RpcAnswer>, NotFound>
    /** The same of Base. */
    askEvm(asked: RpcRequest | ReadonlyArray<RpcRequest>): Effect.Effect<RpcAnswer | ReadonlyArray<RpcAnswer>, NotFound>
  }
>()("turnpike/services/SandboxChain") {
  static readonly layer = Layer.effect(
    SandboxChain,
    Effect.gen(function* () {
      const { environment } = yield* Deployment
      const secret = yield* (yield* Secrets).secret("sandbox chain")
      const chainId = chainIdOf("base-sepolia") ?? 0n
      const tokens = Currency.literals.map((symbol) => ({ ...assetOf("base-sepolia", symbol), symbol }))
      const mints = Currency.literals.map((currency) => assetOf("solana-devnet", currency).address)

      return SandboxChain.of({
        feePayer: keyPair(secret).address,
        recentBlockhash: (now) =>
          encodeBase58(
            createHmac("sha256", secret)
              .update(`blockhash ${Math.floor(now / 60_000)}`)
              .digest()
          ),
        askSolana: Effect.fn("SandboxChain.askSolana")(function* (asked) {
          if (environment !== "sandbox") return yield* new NotFound({ resource: "chain", id: "solana-rpc" })
          const slot = Math.floor((yield* Clock.currentTimeMillis) / slotMillis)
          // A new one each time: two payments that are alike in everything else are then two transactions.
          const blockhash = () => encodeBase58(SecureRandom.randomBytesUnsafe(32))
          const answer = (request: RpcRequest) => answerSolanaRpc(request, { slot, blockhash: blockhash(), mints })
          return "method" in asked ? answer(asked) : asked.map(answer)
        }),
        askEvm: Effect.fn("SandboxChain.askEvm")(function* (asked) {
          if (environment !== "sandbox") return yield* new NotFound({ resource: "chain", id: "evm-rpc" })
          const block = Math.floor((yield* Clock.currentTimeMillis) / blockMillis)
          const answer = (request: RpcRequest) => answerEvmRpc(request, { chainId, block, tokens })
          return "method" in asked ? answer(asked) : asked.map(answer)
        })
      })
    })
  )
}
