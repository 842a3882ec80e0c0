import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium } from "playwright-core"
import { names, row } from "./Consumers.mjs"

const modules = join(import.meta.dirname, "node_modules")
const root = join(import.meta.dirname, "../../..")

/** The Chromium of this machine; undefined when it has none. */
const executablePath = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
  .flatMap((name) => ["/usr/bin", "/usr/local/bin", "/snap/bin"].map((folder) => join(folder, name)))
  .find((path) => existsSync(path))

/** Our client as browsers get it. */
const bundle = () => {
  const folder = mkdtempSync(join(tmpdir(), "turnpike-channel-"))
  try {
    const built = join(folder, "client")
    execFileSync(process.execPath, [join(root, "scripts/build-client.mjs"), built], { stdio: "ignore" })
    return readFileSync(join(built, "client.js"), "utf8")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const fromModules = (path) => readFileSync(join(modules, path), "utf8")

/** What pages of the server's own address can load. */
const fileAt = (path) => {
  if (path === "/page") return ["text/html", "<!doctype html><title>Agent</title>"]
  if (path === "/client.js") return ["text/javascript", bundle()]
  if (path === "/polyfill.js") return ["text/javascript", fromModules("event-source-polyfill/src/eventsource.js")]
  if (path.startsWith("/fetch/")) {
    const name = path.slice("/fetch/".length).replace(/\.js$/, "")
    return ["text/javascript", fromModules(`@microsoft/fetch-event-source/lib/esm/${name}.js`)]
  }
  return undefined
}

/** Runs in the page: begins to listen, and tells `heard` what comes. */
const scripts = {
  "@microsoft/fetch-event-source": async ({ token, url }) => {
    const { fetchEventSource } = await import("/fetch/index.js")
    void fetchEventSource(url, {
      headers: { Authorization: `Bearer ${token}` },
      openWhenHidden: true,
      // As its documentation has it for who wants to stay: an end is an error, and errors are tried again.
      onclose: () => {
        throw new Error("closed")
      },
      onmessage: ({ data, event, id }) => event && globalThis.heard({ id, name: event, data: JSON.parse(data) })
    })
  },
  "event-source-polyfill": async ({ names, token, url }) => {
    await import("/polyfill.js")
    const source = new globalThis.EventSourcePolyfill(url, {
      headers: { Authorization: `Bearer ${token}` },
      lastEventIdQueryParameterName: "last_event_id"
    })
    for (const name of names) {
      source.addEventListener(name, ({ data, lastEventId }) =>
        globalThis.heard({ id: lastEventId, name, data: JSON.parse(data) })
      )
    }
  },
  agentChannel: async ({ agentId, baseUrl, privateKey }) => {
    const { agentChannel } = await import("/client.js")
    const onConnect = () => globalThis.heard({ name: "connected" })
    const listening = async () => {
      for await (const { data, id, type } of agentChannel({ baseUrl, agentId, privateKey, onConnect })) {
        globalThis.heard({ id, name: type, data })
      }
    }
    void listening()
  }
}

/** Consumers in a page of a real Chromium; undefined when this machine has none. */
export const openBrowser = async () => {
  if (executablePath === undefined) return undefined
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] })
  const where = `Chromium ${browser.version().split(".")[0]}`
  const consumers = Object.entries(scripts).map(([name, script]) => ({
    ...(name === "agentChannel" ? { client: name, version: "", protocol: where } : row(name, where)),
    open: async (about, heard) => {
      const page = await browser.newPage()
      await page.route(`${about.baseUrl}/**`, (route) => {
        const file = fileAt(new URL(route.request().url()).pathname)
        return file === undefined ? route.continue() : route.fulfill({ contentType: file[0], body: file[1] })
      })
      await page.goto(`${about.baseUrl}/page`)
      await page.exposeFunction("heard", heard)
      await page.evaluate(script, { ...about, names })
      return () => page.close()
    }
  }))
  return { consumers, close: () => browser.close() }
}
