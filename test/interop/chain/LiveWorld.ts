import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { createWalletClient, type Hex, http, type PrivateKeyAccount } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import * as EmbeddedPostgres from "../../../layers/EmbeddedPostgres.ts"
import { assetOf } from "../../../src/domain/Network.ts"
import { expect, micros, type Origin, type Row } from "../x402/World.ts"
import { addresses, type Devnet, tokenAbi } from "./Devnet.ts"
import * as LiveServer from "./LiveServer.ts"
import { receiver } from "./Payer.ts"

export const network = "base-mainnet"
export const price = 10_000n

/** A client library of somebody else, which knows the real Base and nothing of us. */
export interface Client extends Pick<Row, "client" | "version" | "protocol"> {
  /** The request header that carries the payment. */
  readonly header: string
  readonly endpoint?: Readonly<Record<string, unknown>>
  /** Whether Permit2 must have been allowed to move the payer's tokens. */
  readonly needsAllowance?: boolean
  readonly paying: (account: PrivateKeyAccount) => (through: typeof fetch) => typeof fetch
  readonly receipt: (response: Response) => string
}

/** What passed between a client and the server while it paid. */
export interface Watched {
  header: string
  statuses: Array<number>
}
export const unwatched = (): Watched => ({ header: "", statuses: [] })

/** A live server on a chain of its own, and what is done to both. */
export const open = async (devnet: Devnet, origin: Origin) => {
  const { chain, client: node } = devnet
  const dataDir = mkdtempSync(join(tmpdir(), "turnpike-live-"))
  const surroundings = { dataDir, rpcUrl: devnet.door.url, allowHosts: [new URL(origin.url).host] }
  /** Blocks come by themselves, or not at all. */
  const blocks = (come: boolean) => node.setIntervalMining({ interval: come ? 1 : 0 })
  await node.setAutomine(false)
  await blocks(true)
  await node.setBalance({ address: LiveServer.relayer, value: 10n ** 20n })
  let server = await LiveServer.start(surroundings)

  const api = async (method: string, path: string, body?: object) => {
    const response = await fetch(new URL(path, server.baseUrl), {
      method,
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text)
  }
  const written = async (hash: Hex) => {
    const { status } = await node.waitForTransactionReceipt({ hash, pollingInterval: 200 })
    expect("status of a transaction of the payer", status, "success")
  }

  const token = { address: assetOf(network, "USDC").address as Hex, abi: tokenAbi, gas: 200_000n } as const
  const walletOf = (account: PrivateKeyAccount) => createWalletClient({ account, chain, transport: http(devnet.url) })

  /** Somebody with this much in tokens. */
  const payer = async (client: Client, amount: bigint): Promise<PrivateKeyAccount> => {
    const account = privateKeyToAccount(generatePrivateKey())
    const wallet = walletOf(account)
    await node.setBalance({ address: account.address, value: 10n ** 19n })
    await written(await wallet.writeContract({ ...token, functionName: "mint", args: [account.address, amount] }))
    const permit2 = [addresses.permit2, 2n ** 255n] as const
    if (client.needsAllowance) {
      await written(await wallet.writeContract({ ...token, functionName: "approve", args: permit2 }))
    }
    return account
  }

  /** Somebody who sells what the origin answers, and is paid at an address of their own. */
  const seller = async ({ endpoint }: Pick<Client, "endpoint">) => {
    const address = receiver()
    const { id: walletId } = await api("POST", "/v1/wallets", { currency: "USDC", network, address })
    const { gatewayUrl } = await api("POST", "/v1/x402/endpoints", {
      name: "Live",
      path: "/",
      method: "ANY",
      accountId: server.accountId,
      walletId,
      basePrice: 0.01,
      currency: "USDC",
      network,
      originUrl: origin.url,
      ...endpoint
    })
    return { address, walletId: String(walletId), url: String(gatewayUrl) }
  }

  /** Moves away all that somebody has. */
  const empty = async (account: PrivateKeyAccount) => {
    const args = [receiver(), await devnet.balanceOf(account.address)] as const
    await written(await walletOf(account).writeContract({ ...token, functionName: "transfer", args }))
  }

  const standing = async (from: Hex, to: Awaited<ReturnType<typeof seller>>) => {
    const [paid, earned, wallet] = await Promise.all([
      devnet.balanceOf(from),
      devnet.balanceOf(to.address),
      api("GET", `/v1/wallets/${to.walletId}`)
    ])
    return { paid: -paid, earned, booked: micros(wallet.balance_available) + micros(wallet.balance_pending) }
  }
  /** Says whether exactly this much went from payer to seller, on the chain and in our books, since it was asked last. */
  const books = async (from: Hex, to: Awaited<ReturnType<typeof seller>>) => {
    let before = await standing(from, to)
    const change = async () => {
      const [was, now] = [before, await standing(from, to)]
      before = now
      return { paid: now.paid - was.paid, earned: now.earned - was.earned, booked: now.booked - was.booked }
    }
    const earned = (found: Awaited<ReturnType<typeof change>>, amount: bigint) => {
      expect("earned on the chain", found.earned, amount)
      expect("deposited in the wallet", found.booked, amount)
    }
    return {
      moved: async (amount: bigint) => {
        const found = await change()
        expect("paid on the chain", found.paid, amount)
        earned(found, amount)
      },
      /** What the payer does otherwise does not matter. */
      earned: async (amount: bigint) => earned(await change(), amount)
    }
  }

  /** Pays as the client's own documentation says. */
  const pay = async (client: Client, account: PrivateKeyAccount, url: string, watched: Watched = unwatched()) => {
    const through: typeof fetch = async (input, init) => {
      watched.header = new Request(input, init).headers.get(client.header) ?? watched.header
      const response = await fetch(input, init)
      watched.statuses.push(response.status)
      return response
    }
    return await client.paying(account)(through)(url)
  }

  /** The payment header of a client whose payment is kept back. */
  const signed = async (client: Client, account: PrivateKeyAccount, url: string) => {
    let header = ""
    const through: typeof fetch = async (input, init) => {
      const found = new Request(input, init).headers.get(client.header)
      if (found === null) return await fetch(input, init)
      header = found
      return new Response(null, { status: 204 })
    }
    await client
      .paying(account)(through)(url)
      .catch(() => undefined)
    expect("a payment was signed", header !== "", true)
    return header
  }

  /** Ends the case unless this hash is of a transaction in a block, and it went well. */
  const isInBlock = async (transaction: string) => {
    const receipt = await node.getTransactionReceipt({ hash: transaction as Hex })
    const block = await node.getBlock({ blockHash: receipt.blockHash })
    expect("status of the transaction", receipt.status, "success")
    expect("transaction in its block", block.transactions.includes(transaction as Hex), true)
  }

  return {
    door: devnet.door,
    payer,
    empty,
    seller,
    books,
    pay,
    signed,
    isInBlock,
    blocks,
    /** Transactions of the relayer that are in no block yet. */
    waiting: async () => {
      const [pending, latest] = await Promise.all(
        (["pending", "latest"] as const).map((blockTag) =>
          node.getTransactionCount({ address: LiveServer.relayer, blockTag })
        )
      )
      return (pending ?? 0) - (latest ?? 0)
    },
    /** Kills the server; `restart` starts another on the same data and address. */
    kill: () => server.kill(),
    restart: async () => {
      server = await LiveServer.start(surroundings, Number(new URL(server.baseUrl).port))
    },
    doctor: () => server.doctor(),
    said: () => server.said(),
    close: async () => {
      await server.stop()
      await Effect.runPromise(Effect.ignore(EmbeddedPostgres.discard(join(dataDir, "postgres"))))
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}
export type LiveWorld = Awaited<ReturnType<typeof open>>
