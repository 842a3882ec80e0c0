import { Effect } from "effect"
import { type Connection, get, post } from "./Connection.ts"
import { expectStatus, onEach } from "./HttpLoad.ts"
import * as Turnpike from "./Turnpike.ts"

const wallets = 32

/** Somebody with many funded wallets, who buys the same thing again and again. */
export interface Buyer {
  /** Makes `count` payments and answers their proofs. They expire after a minute. */
  readonly pay: (count: number) => Effect.Effect<Array<string>>
  /** Uses up the proofs, one a turn. */
  readonly retry: (proofs: Array<string>) => (connection: Connection) => Promise<boolean>
  /** The call that is told the price, the payment, and the call that is answered. */
  readonly cycle: (connection: Connection, loop: number) => Promise<boolean>
}

export const makeBuyer = (server: Turnpike.Turnpike, path: string): Effect.Effect<Buyer> =>
  Effect.gen(function* () {
    const payers = yield* Effect.forEach(Array.from({ length: wallets }), () => Turnpike.fundedWallet(server))
    const authorization = `Authorization: Bearer ${server.credentials.api_key}\r\n`
    const unpaid = get(path)

    const buyProof = async (connection: Connection, loop: number) => {
      const offer = expectStatus(402, await connection.exchange(unpaid))
      const order = `{"payment_request_id":"${field(offer.body, "payment_request_id")}","from_wallet_id":"${payers[loop]}"}`
      const payment = expectStatus(201, await connection.exchange(post("/v1/x402/pay", order, authorization)))
      return field(payment.body, "proof")
    }
    const use = async (connection: Connection, proof: string) => {
      expectStatus(200, await connection.exchange(get(path, `X-Payment-Proof: ${proof}\r\n`)))
      return true
    }

    return {
      pay: (count) =>
        Effect.gen(function* () {
          const proofs: Array<string> = []
          let left = count
          yield* onEach(server.port, wallets, async (connection, index) => {
            while (left-- > 0) proofs.push(await buyProof(connection, index))
          })
          return proofs
        }),
      retry: (proofs) => (connection) => {
        const proof = proofs.pop()
        return proof === undefined ? Promise.resolve(false) : use(connection, proof)
      },
      cycle: async (connection, loop) => use(connection, await buyProof(connection, loop))
    }
  })

/** A text field of a JSON answer. Parsing all of it would cost more than sending the request. */
const field = (body: string, name: string): string => {
  const value = new RegExp(`"${name}":"([^"]+)"`).exec(body)?.[1]
  if (value === undefined) throw new Error(`There is no ${name} in ${body}`)
  return value
}
