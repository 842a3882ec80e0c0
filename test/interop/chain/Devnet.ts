import { spawn, spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { delimiter, dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { createTestClient, type Hex, http, parseAbi, publicActions } from "viem"
import { hardhat } from "viem/chains"

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const cli = here("node_modules/hardhat/dist/src/cli.js")

/** The addresses that unmodified clients know. */
export const addresses = {
  token: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  permit2: "0x000000000022D473030F116dDEE9F6B43aC78BA3",
  exactProxy: "0x402085c248EeA27D92E8b30b2C58ed07f9E20001",
  uptoProxy: "0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002",
  multicall: "0xcA11bde05977b3631167028862bE2a173976CA11"
} as const

export const permit2Abi = parseAbi(["function invalidateUnorderedNonces(uint256 word, uint256 mask)"])
export const multicallAbi = parseAbi(["struct Call { address to; bytes data; }", "function run(Call[] calls)"])
export const tokenAbi = parseAbi([
  "function mint(address to, uint256 value)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "function pause(bool on)",
  "function cancelAuthorization(bytes32 nonce)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)"
])

/** Installs the chain under the Node that runs this: under an older one its engine is left out without a word. */
const install = () => {
  if (existsSync(cli)) return
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` }
  // Not `npm ci`: it refuses a lockfile that leaves out engines for platforms its registry does not carry.
  const args = ["install", "--no-save", "--include=dev", "--loglevel=error", "--prefix", here(".")]
  const done = spawnSync("npm", args, { stdio: ["ignore", "ignore", "inherit"], env })
  if (done.status !== 0) throw new Error("the chain could not be installed")
}

interface Compiled {
  readonly errors?: ReadonlyArray<{ readonly severity: string; readonly formattedMessage: string }>
  readonly contracts: Record<
    string,
    Record<string, { readonly evm: { readonly deployedBytecode: { object: string } } }>
  >
}
const compile = (tokenName: string): ((file: string, contract: string) => Hex) => {
  const solc: { compile(input: string): string } = createRequire(import.meta.url)("solc")
  const sources = Object.fromEntries(
    ["Token.sol", "Permit2.sol"].map((file) => {
      const content = readFileSync(here(`contracts/${file}`), "utf8").replace('name = "USDC"', `name = "${tokenName}"`)
      return [file, { content }]
    })
  )
  const settings = {
    outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } },
    optimizer: { enabled: true },
    viaIR: true
  }
  const output: Compiled = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })))
  const errors = output.errors?.filter(({ severity }) => severity === "error") ?? []
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join("\n"))
  return (file, contract) => `0x${output.contracts[file]?.[contract]?.evm.deployedBytecode.object ?? ""}`
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createTcpServer()
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

interface RpcQuestion {
  readonly id: unknown
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/**
 * A door to the node that can be told to swallow a method (the question is heard, and nothing comes back), or to answer for the node as
 * one that lags behind or allows less.
 */
const door = async (target: string) => {
  let instead: (question: RpcQuestion) => object | undefined = () => undefined
  const swallowed = new Set<string>()
  const heard: Array<() => void> = []
  const server = createServer(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    if (swallowed.has(JSON.parse(body).method)) {
      for (const resume of heard.splice(0)) resume()
      return
    }
    const { id, ...question }: RpcQuestion = JSON.parse(body)
    const own = instead({ id, ...question })
    if (own !== undefined) {
      const json = { "content-type": "application/json" }
      return response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id, ...own }))
    }
    const answer = await fetch(target, { method: "POST", body, headers: { "content-type": "application/json" } })
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallow: (method: string) => swallowed.add(method),
    answers: (own: typeof instead) => {
      instead = own
    },
    pass: () => {
      swallowed.clear()
      instead = () => undefined
    },
    heard: () => new Promise<void>((resolve) => heard.push(resolve)),
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

const networks = {
  "base-sepolia": { chainId: 84_532, token: addresses.token, name: "USDC" },
  "base-mainnet": { chainId: 8453, token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", name: "USD Coin" }
} as const

/** Base as far as payments see it: a node of its own chain with the contracts at their real addresses. */
export const start = async (network: keyof typeof networks = "base-sepolia") => {
  install()
  const { chainId, name, token } = networks[network]
  const code = compile(name)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = ["node", "--chain-id", String(chainId), "--port", String(port), "--hostname", "127.0.0.1"]
  const node = spawn(process.execPath, [cli, ...args], { cwd: here("."), stdio: "ignore" })
  process.once("exit", () => node.kill("SIGKILL"))
  const chain = { ...hardhat, id: chainId }
  const client = createTestClient({ chain, mode: "hardhat", transport: http(url, { retryCount: 0 }) }).extend(
    publicActions
  )
  const until = Date.now() + 60_000
  while (!(await client.getChainId().catch(() => undefined))) {
    if (Date.now() > until || node.exitCode !== null) throw new Error("the chain did not start")
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await client.setCode({ address: token, bytecode: code("Token.sol", "Token") })
  await client.setCode({ address: addresses.permit2, bytecode: code("Permit2.sol", "Permit2") })
  await client.setCode({ address: addresses.exactProxy, bytecode: code("Permit2.sol", "ExactProxy") })
  await client.setCode({ address: addresses.uptoProxy, bytecode: code("Permit2.sol", "UptoProxy") })
  await client.setCode({ address: addresses.multicall, bytecode: code("Permit2.sol", "Multicall") })
  const entrance = await door(url)
  return {
    url,
    chain,
    client,
    door: entrance,
    balanceOf: (account: Hex) =>
      client.readContract({ address: token, abi: tokenAbi, functionName: "balanceOf", args: [account] }),
    stop: () => {
      entrance.close()
      node.kill("SIGKILL")
    }
  }
}
export type Devnet = Awaited<ReturnType<typeof start>>
