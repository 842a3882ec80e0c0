import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"

/** The shop that nobody here wrote. Its own list of dependencies lacks the second one. */
export const versions = { "@evershop/evershop": "2.2.1", "concat-stream": "2.0.0" } as const

const bin = (folder: string) => join(folder, "node_modules/@evershop/evershop/dist/bin/evershop.js")

/** Runs one command to its end; the end of what it said is shown when it fails. */
const run = async (command: string, args: ReadonlyArray<string>, cwd: string, env: Record<string, string> = {}) => {
  let said = ""
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000)
    })
  }
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${said}`)
}

/** Installs the shop into a folder of its own, once; later runs find it there. Some 520 MB. */
export const install = async (folder: string) => {
  if (existsSync(bin(folder))) return
  mkdirSync(folder, { recursive: true })
  // No `type`: what the shop generates here is read as whatever it is.
  const manifest = { name: "evershop-fixture", version: "1.0.0", private: true, dependencies: versions }
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2))
  const beside = join(dirname(process.execPath), "npm")
  await run(existsSync(beside) ? beside : "npm", ["install", "--no-audit", "--no-fund"], folder)
}

/** The built shop knows its own address, so another port is another build. */
const build = async (folder: string, port: number, env: Record<string, string>) => {
  const stamp = join(folder, ".built")
  const wanted = `${JSON.stringify(versions)} ${port}`
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return
  const settings = { shop: { homeUrl: `http://127.0.0.1:${port}`, currency: "USD", language: "en" } }
  mkdirSync(join(folder, "config"), { recursive: true })
  writeFileSync(join(folder, "config/default.json"), JSON.stringify(settings))
  await run(process.execPath, [bin(folder), "build", "--skip-minify"], folder, env)
  writeFileSync(stamp, wanted)
}

/** A running shop, and what may be asked of it behind its back. */
export interface EverShop {
  readonly domain: string
  /** Rows of the table of products. */
  readonly products: () => Promise<number>
  /** Rows of the table of orders. */
  readonly orders: () => Promise<number>
  /** Cash on delivery, and one way of shipping to the United States, as its manual sets them up. */
  readonly configure: () => Promise<void>
  readonly close: () => Promise<void>
}

interface Sql {
  connect(): Promise<void>
  query(text: string): Promise<{ readonly rows: ReadonlyArray<Record<string, unknown>> }>
  end(): Promise<void>
}

/** One question to the shop's database, by the driver that the shop brings. */
const ask = async (folder: string, connection: EmbeddedPostgres.Connection, text: string) => {
  const { Client }: { readonly Client: new (options: object) => Sql } = createRequire(join(folder, "package.json"))(
    "pg"
  )
  const { database, socketDir: host, username: user } = connection
  const client = new Client({ host, database, user })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

const answers = async (url: string, shop: ChildProcess) => {
  for (;;) {
    if (shop.exitCode !== null) throw new Error(`The shop ended with ${shop.exitCode}`)
    const status = await fetch(url).then(
      (response) => response.status,
      () => 0
    )
    if (status === 200) return
    await pause(200)
  }
}

/** Posts to the shop's own administration. */
const post = async (url: string, body: unknown, token: string): Promise<{ readonly data: Record<string, string> }> => {
  const headers = { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${url} answered ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

const admin = { email: "admin@example.com", password: "Passw0rd!x" }

/** A fresh shop with its fifteen sample products, on a fresh database of its own. */
export const open = async (folder: string, port: number): Promise<EverShop> => {
  const scope = Scope.makeUnsafe()
  const dataDir = join(folder, "postgres")
  await Effect.runPromise(EmbeddedPostgres.discard(dataDir))
  const make = EmbeddedPostgres.make({ dataDir, settings: { fsync: "off" } })
  const postgres = await Effect.runPromise(Scope.provide(make, scope))
  const secret = () => randomBytes(24).toString("hex")
  const env = {
    DB_HOST: postgres.socketDir,
    DB_PORT: "5432",
    DB_NAME: postgres.database,
    DB_USER: postgres.username,
    DB_PASSWORD: "unused",
    DB_SSLMODE: "disable",
    PORT: String(port),
    JWT_ADMIN_SECRET: secret(),
    JWT_ADMIN_REFRESH_SECRET: secret(),
    JWT_CUSTOMER_SECRET: secret(),
    JWT_CUSTOMER_REFRESH_SECRET: secret()
  }
  await build(folder, port, env)
  const log = openSync(join(folder, "shop.log"), "w")

  const shop = spawn(process.execPath, [bin(folder), "start"], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", log, log],
    // It starts a process of its own for periodic work; both end as a group.
    detached: true
  })
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(-(shop.pid ?? 0), signal)
    } catch {
      // All of them are gone.
    }
  }
  const url = `http://127.0.0.1:${port}`
  const close = async () => {
    if (shop.exitCode === null && shop.signalCode === null) {
      end("SIGTERM")
      await Promise.race([once(shop, "exit"), pause(10_000)])
    }
    end("SIGKILL")
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
  const configure = async () => {
    await run(
      process.execPath,
      [bin(folder), "user:create", "--email", admin.email, "--password", admin.password, "--name", "Admin"],
      folder,
      env
    )
    const { data: login } = await post(`${url}/api/user/tokens`, admin, "")
    const token = login["accessToken"] ?? ""
    // Through its own interface: what is only written to the table is not seen before the next start.
    await post(`${url}/api/settings`, { codPaymentStatus: "1", codDisplayName: "Cash on delivery" }, token)
    const zone = await post(`${url}/api/shippingZones`, { name: "United States", countries: ["US"] }, token)
    const method = await post(
      `${url}/api/shippingProviders/core/methods`,
      { name: "Standard shipping", is_enabled: true },
      token
    )
    const rate = { method_id: method.data["uuid"], zone_id: zone.data["uuid"], is_enabled: true, cost: 5 }
    await post(`${url}/api/shippingProviders/core/rates`, rate, token)
  }
  try {
    await answers(url, shop)
    await run(process.execPath, [bin(folder), "seed", "--all"], folder, env)
  } catch (error) {
    await close()
    throw error
  }
  const rows = async (table: string) =>
    Number((await ask(folder, postgres, `select count(*) as n from "${table}"`))[0]?.["n"])
  const products = () => rows("product")
  const orders = () => rows("order")
  return { domain: `127.0.0.1:${port}`, products, orders, configure, close }
}
