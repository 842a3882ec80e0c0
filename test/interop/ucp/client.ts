// The reference client of UCP (@shopify/ucp-cli, unmodified): its validators agree with ours, and it buys at our fixture shop.
import { Deferred, Effect, Fiber } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { judgeUcp } from "../../../src/domain/protocol/Ucp.ts"
import { ucpAgentProfile } from "../../../src/domain/protocol/UcpAgentProfile.ts"
import { type Profile, profileOf } from "../../shops/UcpProfiles.ts"
import * as UcpShop from "../../shops/UcpShop.ts"
import { attempt, expect } from "../x402/World.ts"
import { clientValidator } from "./Validators.ts"

const client = "@shopify/ucp-cli"
const packageHome = join(import.meta.dirname, "node_modules", client)
const { version } = JSON.parse(readFileSync(join(packageHome, "package.json"), "utf8"))
const releases = ["2026-04-08", "2026-08-25"] as const
const site = new URL("https://shop.example/.well-known/ucp")

const service = (profile: Profile) => profile.ucp.services["dev.ucp.shopping"][0]
const capability = (profile: Profile) => profile.ucp.capabilities["dev.ucp.shopping.checkout"][0]
const handler = (profile: Profile) => profile.ucp.payment_handlers["com.example.cards"][0]
const keys = (profile: Profile) => profile.keys ?? profile.signing_keys

/** Changes of a valid profile that both judge alike: refused, or taken. */
const alike: Readonly<Record<string, (profile: Profile) => unknown>> = {
  "nothing wrong": () => undefined,
  "no services": (profile) => delete profile.ucp.services,
  "no payment handlers": (profile) => delete profile.ucp.payment_handlers,
  "a schema of somebody else": (profile) => (capability(profile).schema = "https://elsewhere.example/checkout.json"),
  "a handler without id": (profile) => delete handler(profile).id,
  "no version": (profile) => delete profile.ucp.version,
  "a version that is no date": (profile) => (profile.ucp.version = "v1"),
  "services as a list": (profile) => (profile.ucp.services = []),
  "a service as an object": (profile) => (profile.ucp.services["dev.ucp.shopping"] = service(profile)),
  "empty services": (profile) => (profile.ucp.services = {}),
  "a service without version": (profile) => delete service(profile).version,
  "an unknown transport": (profile) => (service(profile).transport = "soap"),
  "no transport": (profile) => delete service(profile).transport,
  "an endpoint that is no URL": (profile) => (service(profile).endpoint = "/ucp"),
  "a schema that is no URL": (profile) => (capability(profile).schema = "checkout.json"),
  "capabilities as a list": (profile) => (profile.ucp.capabilities = []),
  "no capabilities": (profile) => delete profile.ucp.capabilities,
  "a capability without version": (profile) => delete capability(profile).version,
  "several parents": (profile) => (capability(profile).extends = ["dev.ucp.shopping.cart", "dev.ucp.shopping.order"]),
  "no parents in the list": (profile) => (capability(profile).extends = []),
  "a parent that is no name": (profile) => (capability(profile).extends = "Checkout"),
  "a parent with a hyphen": (profile) => (capability(profile).extends = "com.example-shop.checkout"),
  "an id that is no text": (profile) => (handler(profile).id = 1),
  "a config that is no object": (profile) => (handler(profile).config = "x"),
  "no instruments in the list": (profile) => (handler(profile).available_instruments = []),
  "an instrument without type": (profile) => (handler(profile).available_instruments = [{}]),
  "an instrument": (profile) => (handler(profile).available_instruments = [{ type: "card" }]),
  "a status of nobody": (profile) => (profile.ucp.status = "fine"),
  "no keys": (profile) => {
    delete profile.keys
    delete profile.signing_keys
  },
  "a key without id": (profile) => delete keys(profile)[0].kid,
  "a key without type": (profile) => delete keys(profile)[0].kty,
  "a key of numbers": (profile) => (keys(profile)[0].x = 1),
  "keys of the other release": (profile) => {
    const [taken, given] =
      profile.keys === undefined ? (["signing_keys", "keys"] as const) : (["keys", "signing_keys"] as const)
    profile[given] = profile[taken]
    delete profile[taken]
  },
  "a supported version that is no URL": (profile) => (profile.ucp.supported_versions = { "2026-01-23": "old" }),
  "a supported version": (profile) => (profile.ucp.supported_versions = { "2026-01-23": "https://shop.example/old" }),
  "members that nobody knows": (profile) => (profile.ucp.extra = { a: 1 })
}
/** What its validator takes and the client then refuses to call, or what nobody should publish: ours refuses it. */
const stricter: Readonly<Record<string, (profile: Profile) => unknown>> = {
  "an endpoint without TLS": (profile) => (service(profile).endpoint = "http://shop.example/ucp"),
  "no endpoint": (profile) => delete service(profile).endpoint,
  "a private key": (profile) => (keys(profile)[0].d = "secret")
}

for (const release of releases) {
  const validate = await clientValidator(release, "business")
  const validateAgent = await clientValidator(release, "platform")
  const who = { client, version, protocol: `ucp ${release}` }
  const verdicts = (change: (profile: Profile) => unknown) => {
    const profile = profileOf(release, { base: "https://shop.example", transports: ["mcp", "rest"] })
    change(profile)
    return { theirs: validate(profile), ours: judgeUcp(profile, site)?.isValid ?? false }
  }
  await attempt(who, "our own profile is taken", async () => {
    expect("ours", validateAgent(ucpAgentProfile(release)), true)
    expect("nothing", validateAgent({ ucp: { version: release } }), false)
  })
  for (const [name, change] of Object.entries(alike)) {
    await attempt(who, `a profile with ${name} is judged alike`, async () => {
      const { ours, theirs } = verdicts(change)
      expect("ours", ours, theirs)
      return theirs ? "taken" : "refused"
    })
  }
  for (const [name, change] of Object.entries(stricter)) {
    await attempt(who, `a profile with ${name} passes its validator and not ours`, async () => {
      const { ours, theirs } = verdicts(change)
      expect("theirs", theirs, true)
      expect("ours", ours, false)
    })
  }
}

const home = mkdtempSync(join(tmpdir(), "turnpike-ucp-"))

/** Runs the client with its caches in a folder of ours, and answers what it prints. */
const ucp = (...args: ReadonlyArray<string>): Promise<Profile> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(packageHome, "dist/bin.js"), ...args, "--format", "json"], {
      env: { PATH: process.env["PATH"], HOME: home, UCP_TEST_ALLOW_INSECURE_LOCALHOST: "true" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000
    })
    let said = ""
    child.stdout.on("data", (chunk: Buffer) => (said += chunk))
    child.stderr.on("data", (chunk: Buffer) => (said += chunk))
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(said))
      else reject(new Error(`ucp ${args.join(" ")} ended with ${code}: ${said.slice(0, 600)}`))
    })
  })

/** A fixture shop, until it is closed. */
const openShop = async (release: (typeof releases)[number]) => {
  const opened = Deferred.makeUnsafe<UcpShop.UcpShop>()
  const running = Effect.runFork(
    Effect.scoped(
      Effect.gen(function* () {
        yield* Deferred.succeed(opened, yield* UcpShop.open({ release }))
        return yield* Effect.never
      })
    )
  )
  const shop = await Effect.runPromise(Deferred.await(opened))
  return { shop, close: () => Effect.runPromise(Fiber.interrupt(running)) }
}

for (const release of releases) {
  const who = { client, version, protocol: `ucp ${release}` }
  const { close, shop } = await openShop(release)
  // The client takes loopback without TLS under this name as well.
  const business = ["--business", shop.url]
  await attempt(who, "discovers our shop and its tools", async () => {
    const found = JSON.stringify(await ucp("discover", ...business))
    expect("tools", found.includes("create_checkout") && found.includes("search_catalog"), true)
  })
  await attempt(who, "makes a checkout, reads it, cancels it", async () => {
    const input = JSON.stringify({ line_items: [{ item: { id: "rose" }, quantity: 2 }], currency: "USD" })
    const made = await ucp("checkout", "create", ...business, "--input", input)
    const checkout = made.result ?? made
    expect("total", checkout.totals.at(-1).amount, 3998)
    const read = await ucp("checkout", "get", checkout.id, ...business)
    expect("status", (read.result ?? read).status, "incomplete")
    const ended = await ucp("checkout", "cancel", checkout.id, ...business)
    expect("status", (ended.result ?? ended).status, "canceled")
    expect("orders", shop.selling.orders(), 0)
  })
  await attempt(who, "buys, when it has said who it is and where to send it", async () => {
    const address = { street_address: "1 Main St", postal_code: "62701", address_country: "US" }
    const order = {
      line_items: [{ item: { id: "tulip" }, quantity: 1 }],
      currency: "USD",
      buyer: { email: "agent@example.com" },
      fulfillment: {
        methods: [
          { type: "shipping", destinations: [address], groups: [{ id: "package_1", selected_option_id: "standard" }] }
        ]
      }
    }
    const made = await ucp("checkout", "create", ...business, "--input", JSON.stringify(order))
    const checkout = made.result ?? made
    expect("status", checkout.status, "ready_for_complete")
    const done = await ucp("checkout", "complete", checkout.id, ...business, "--input", "{}")
    expect("status", (done.result ?? done).status, "completed")
    expect("orders", shop.selling.orders(), 1)
  })
  await close()
}
rmSync(home, { recursive: true, force: true })
