import type { createServer } from "node:http"
import { once } from "node:events"
import { randomBytes } from "node:crypto"
import type { AddressInfo } from "node:net"
import { type PrivateKeyAccount, generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { evmPayer } from "./Evm.ts"
import { api, attempt, balance, expect, funded, openOrigin, sell, server, wallet } from "./World.ts"
import { versionOf } from "./versionOf.ts"

/** These packages are installed on demand, so their types are not there to be checked. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the package exports.
const load = (name: string): Promise<any> => import(name)

const evmNetwork = "eip155:84532"
const svmNetwork = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
const url = `${server.baseUrl}/v1/x402/facilitator`

const { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } = await load("@x402/fetch")
const { HTTPFacilitatorClient } = await load("@x402/core/server")
const evm = await load("@x402/evm")
const uptoClient = await load("@x402/evm/upto/client")
const evmServer = await load("@x402/evm/exact/server")
const uptoServer = await load("@x402/evm/upto/server")
const svm = await load("@x402/svm")
const svmServer = await load("@x402/svm/exact/server")
const { createKeyPairSignerFromPrivateKeyBytes } = await load("@solana/kit")
const kits = {
  "@x402/express": await load("@x402/express"),
  "@x402/hono": await load("@x402/hono")
}

const till = await wallet("base-sepolia")
const svmTill = await wallet("solana-devnet")
const addressOf = async (id: string): Promise<string> => (await api("GET", `/v1/wallets/${id}`)).address
const [payTo, svmPayTo] = [await addressOf(till), await addressOf(svmTill)]

const usdc = { address: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", decimals: 6, name: "USDC", version: "2" }
const fixed = { scheme: "exact", price: "$0.01", network: evmNetwork, payTo }
const permit2 = {
  ...fixed,
  price: {
    amount: "10000",
    asset: usdc.address,
    extra: { name: usdc.name, version: usdc.version, assetTransferMethod: "permit2" }
  }
}
const routes = {
  "GET /fixed": { accepts: fixed, description: "A fixed price" },
  "GET /broken": { accepts: fixed, description: "Fails" },
  "GET /permit": { accepts: permit2, description: "A fixed price by Permit2" },
  "GET /metered": { accepts: { ...fixed, scheme: "upto" }, description: "A maximum" },
  "GET /solana": { accepts: { ...fixed, network: svmNetwork, payTo: svmPayTo }, description: "On Solana" },
  "GET /unpayable": {
    accepts: { ...fixed, payTo: privateKeyToAccount(generatePrivateKey()).address },
    description: "To nobody"
  }
}

interface Shop {
  readonly base: string
  /** How often the seller's own handlers ran. */
  readonly served: () => number
  readonly close: () => void
}

const resourceServer = ({ x402ResourceServer }: (typeof kits)[keyof typeof kits]) =>
  new x402ResourceServer(new HTTPFacilitatorClient({ url }))
    .register(evmNetwork, new evmServer.ExactEvmScheme())
    .register(evmNetwork, new uptoServer.UptoEvmScheme())
    .register(svmNetwork, new svmServer.ExactSvmScheme())

const listening = async (http: ReturnType<typeof createServer>): Promise<string> => {
  if (!http.listening) await once(http, "listening")
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

const shops: Record<keyof typeof kits, () => Promise<Shop>> = {
  "@x402/express": async () => {
    const kit = kits["@x402/express"]
    const { default: express } = await load("express")
    let served = 0
    const app = express()
    app.use(kit.paymentMiddleware(routes, resourceServer(kit)))
    app.use((request: { readonly path: string }, response: never) => {
      served++
      const { json, status } = Object(response)
      if (request.path === "/metered") kit.setSettlementOverrides(response, { amount: "2500" })
      Reflect.apply(status, response, [request.path === "/broken" ? 500 : 200])
      Reflect.apply(json, response, [{ path: request.path }])
    })
    const http: ReturnType<typeof createServer> = app.listen(0, "127.0.0.1")
    return { base: await listening(http), served: () => served, close: () => http.close() }
  },
  "@x402/hono": async () => {
    const kit = kits["@x402/hono"]
    const [{ Hono }, { createAdaptorServer }] = [await load("hono"), await load("@hono/node-server")]
    let served = 0
    const app = new Hono()
    app.use(kit.paymentMiddleware(routes, resourceServer(kit)))
    app.get(
      "*",
      (context: { readonly req: { readonly path: string }; json(body: object, status: number): unknown }) => {
        served++
        const { path } = context.req
        if (path === "/metered") kit.setSettlementOverrides(context, { amount: "2500" })
        return context.json({ path }, path === "/broken" ? 500 : 200)
      }
    )
    const http: ReturnType<typeof createServer> = createAdaptorServer({ fetch: app.fetch })
    http.listen(0, "127.0.0.1")
    return { base: await listening(http), served: () => served, close: () => http.close() }
  }
}

const paying = (account: PrivateKeyAccount, through: typeof fetch = fetch): typeof fetch =>
  wrapFetchWithPaymentFromConfig(through, {
    schemes: [
      { network: "eip155:*", client: new evm.ExactEvmScheme(account) },
      { network: "eip155:*", client: new uptoClient.UptoEvmScheme(account) }
    ]
  })

const errorOf = (response: Response): string =>
  JSON.parse(Buffer.from(response.headers.get("payment-required") ?? "e30=", "base64").toString()).error ?? ""

for (const name of ["@x402/express", "@x402/hono"] as const) {
  const who = { client: name, version: versionOf(name), protocol: "our facilitator" }
  const shop = await shops[name]()
  const { account, payer } = await evmPayer()
  const pay = paying(account)

  /** Says what one call took from the payer and gave to the seller. */
  const costs = async (
    amount: bigint,
    run: () => Promise<Response>,
    wallets: readonly [string, string] = [payer, till]
  ) => {
    const before = await Promise.all(wallets.map(balance))
    const response = await run()
    await response.arrayBuffer()
    const [paid, earned] = (await Promise.all(wallets.map(balance))).map((now, index) => now - (before[index] ?? 0n))
    expect("paid, in micro-units", -(paid ?? 0n), amount)
    expect("earned, in micro-units", earned, amount)
    return response
  }
  const bought = async (path: string, amount = 10_000n) => {
    const response = await costs(amount, () => pay(shop.base + path))
    expect("status", response.status, 200)
    const receipt = decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE"))
    if (!/^0x[0-9a-f]{64}$/.test(receipt.transaction)) throw new Error(`the receipt names ${receipt.transaction}`)
    return receipt.transaction
  }

  await attempt(who, "without payment: 402, nothing served", async () => {
    const response = await fetch(`${shop.base}/fixed`)
    expect("status", response.status, 402)
    expect("served", shop.served(), 0)
  })
  await attempt(who, "exact by EIP-3009", () => bought("/fixed"))
  await attempt(who, "exact by Permit2", () => bought("/permit"))
  await attempt(who, "upto, of which the seller takes a quarter", () => bought("/metered", 2_500n))
  await attempt(who, "exact on Solana", async () => {
    const signer = await createKeyPairSignerFromPrivateKeyBytes(randomBytes(32))
    const purse = await funded("solana-devnet", signer.address)
    const scheme = new svm.ExactSvmScheme(signer, { rpcUrl: `${server.baseUrl}/v1/sandbox/solana-rpc` })
    const solana: typeof fetch = wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: "solana:*", client: scheme }]
    })
    const response = await costs(10_000n, () => solana(`${shop.base}/solana`), [purse, svmTill])
    expect("status", response.status, 200)
  })
  await attempt(who, "the seller's handler fails: free", async () => {
    const response = await costs(0n, () => pay(`${shop.base}/broken`))
    expect("status", response.status, 500)
  })
  await attempt(who, "an empty wallet: 402, nothing served", async () => {
    const poor = privateKeyToAccount(generatePrivateKey())
    await wallet("base-sepolia", poor.address)
    const served = shop.served()
    const response = await paying(poor)(`${shop.base}/fixed`)
    expect("status", response.status, 402)
    expect("reason", errorOf(response), "insufficient_funds")
    expect("served", shop.served(), served)
  })
  await attempt(who, "a receiver that is no wallet here: 402, nothing served", async () => {
    const served = shop.served()
    const response = await costs(0n, () => pay(`${shop.base}/unpayable`))
    expect("status", response.status, 402)
    expect("reason", errorOf(response), "invalid_payment_requirements")
    expect("served", shop.served(), served)
  })
  await attempt(who, "replay: refused before it is served, paid once", async () => {
    let payment = ""
    const watched: typeof fetch = (input, init) => {
      const { headers } = new Request(input, init)
      payment = headers.get("payment-signature") ?? payment
      return fetch(input, init)
    }
    await costs(10_000n, () => paying(account, watched)(`${shop.base}/fixed`))
    const served = shop.served()
    const again = await costs(0n, () => fetch(`${shop.base}/fixed`, { headers: { "payment-signature": payment } }))
    expect("status", again.status, 402)
    expect("reason", errorOf(again), "invalid_exact_evm_nonce_already_used")
    expect("served", shop.served(), served)
  })
  await attempt(who, "8 at once", async () => {
    const before = await balance(till)
    const answers = await Promise.all(Array.from({ length: 8 }, () => pay(`${shop.base}/fixed`)))
    expect("answers of 200", answers.filter(({ status }) => status === 200).length, 8)
    expect("earned, in micro-units", (await balance(till)) - before, 80_000n)
  })
  shop.close()
}

const client = { client: "@x402/core", version: versionOf("@x402/core"), protocol: "our facilitator" }
await attempt(client, "supported", async () => {
  const { kinds } = await new HTTPFacilitatorClient({ url }).getSupported()
  const names = kinds.map((kind: { x402Version: number; scheme: string; network: string }) =>
    [`v${kind.x402Version}`, kind.scheme, kind.network].join(" ")
  )
  for (const wanted of [
    `v2 exact ${evmNetwork}`,
    `v2 upto ${evmNetwork}`,
    `v2 exact ${svmNetwork}`,
    "v1 exact base-sepolia"
  ]) {
    expect(wanted, names.includes(wanted), true)
  }
  return `${names.length} kinds`
})
await attempt(client, "settled 20 times at once: said once, the others learn the transaction, paid once", async () => {
  const facilitator = new HTTPFacilitatorClient({ url })
  const { account, payer } = await evmPayer()
  const requirements = {
    scheme: "exact",
    network: evmNetwork,
    amount: "10000",
    asset: usdc.address,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { name: usdc.name, version: usdc.version }
  }
  const signed = await new evm.ExactEvmScheme(account).createPaymentPayload(2, requirements)
  const payload = { ...signed, accepted: requirements }
  expect("valid", (await facilitator.verify(payload, requirements)).isValid, true)
  const before = await balance(payer)
  const answers = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(payload, requirements)))
  const refused = answers.filter(({ success }) => !success)
  expect("successes", answers.length - refused.length, 1)
  const used = refused.filter(({ errorReason }) => errorReason === "invalid_exact_evm_nonce_already_used")
  expect("refusals of a used payment", used.length, 19)
  expect("transactions", new Set(answers.map(({ transaction }) => transaction)).size, 1)
  expect("paid, in micro-units", before - (await balance(payer)), 10_000n)
  expect("valid afterwards", (await facilitator.verify(payload, requirements)).isValid, false)
})
await attempt(client, "the bazaar client finds what is sold", async () => {
  const { withBazaar } = await load("@x402/extensions/bazaar")
  const origin = await openOrigin((_, response) => response.end())
  const { id, url: sold } = await sell(origin, "base-sepolia")
  await api("PATCH", `/v1/x402/endpoints/${id}`, { description: "For whoever finds it" })
  const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url })).extensions
  const { items, pagination } = await bazaar.listResources({ type: "http", limit: 100 })
  const found = items.find(({ resource }: { readonly resource: string }) => resource === sold)
  expect("description", found?.description, "For whoever finds it")
  expect("price", found?.accepts[0].amount, "10000")
  origin.close()
  return `${pagination.total} resources`
})
process.exit()
