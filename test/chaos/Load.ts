import type { Trades } from "./Desk.ts"
import { api, type Client, type Funding, must, type Paid, payOnce } from "./Paying.ts"
import { pause } from "./Servers.ts"
import { startTrading } from "./Trading.ts"

/** What clients were told while they were at it. */
export interface Told {
  readonly paid: Array<Paid>
  readonly funded: Array<Funding>
  readonly payers: Array<string>
  readonly trades: Trades
}

const desks = 2

/** Payers that call a priced endpoint over and over, desks that move money, and a faucet that drips, until `stop`. */
export const startLoad = async (client: Client, accountId: string, originUrl: string, loops: number) => {
  const network = "base-sepolia"
  const revenue = await must(client, "POST", "/v1/wallets", { currency: "USDC", network })
  const endpoint = await must(client, "POST", "/v1/x402/endpoints", {
    name: "Under fire",
    path: "/",
    method: "GET",
    accountId,
    basePrice: 0.01,
    currency: "USDC",
    network,
    originUrl,
    walletId: revenue.id,
    timeoutMs: 1000
  })
  const funded: Array<Funding> = []
  const fund = async (wallet: string, amount: string) => {
    const key = crypto.randomUUID()
    const answer = await api(client, "POST", `/v1/wallets/${wallet}/fund`, { amount, currency: "USDC" }, key)
    if (answer.status !== 201) throw new Error(`fund: ${answer.status} ${JSON.stringify(answer.body)}`)
    funded.push({ wallet, transfer: answer.body.transfer_id })
  }
  const trading = await startTrading(client, desks, fund)
  const told: Told = { paid: [], funded, payers: [], trades: trading.told }
  for (let index = 0; index < loops; index++) {
    const { id } = await must(client, "POST", "/v1/wallets", { currency: "USDC", network })
    told.payers.push(id)
    await fund(id, "100.00")
  }

  let stopped = false
  const until = async (work: () => Promise<void>) => {
    while (!stopped) await work()
  }
  const working = [
    ...told.payers.map((wallet) =>
      until(async () => {
        const paid = await payOnce(client, endpoint.id, wallet)
        if (paid !== undefined) told.paid.push(paid)
      })
    ),
    until(() => fund(told.payers[Math.floor(Math.random() * loops)] ?? "", "0.01"))
  ]
  const stop = async () => {
    stopped = true
    await Promise.all(working)
    // Leases of calls whose server died run out within their timeout and ten seconds; the workers see to it.
    await Promise.all([trading.stop(), pause(12_000)])
    return told
  }
  return { endpoint: String(endpoint.id), told, stop }
}
