// An agent's channel is heard, and resumed after a cut, by consumers that know nothing of us.
import { setTimeout } from "node:timers/promises"
import { attempt, expect, report, server } from "../x402/World.ts"
import { newAgent, pay } from "./Agent.mjs"
import { openBrowser } from "./Browser.mjs"
import { consumers } from "./Consumers.mjs"
import { openLine } from "./Line.mjs"

/** Longer than an attempt may take, and not for ever: what still waits would keep this process. */
const until = async (isSo) => {
  for (const start = performance.now(); !isSo(); await setTimeout(10)) {
    if (performance.now() - start > 90_000) throw new Error("nothing came")
  }
}

/** Hears one payment, misses one while the line is cut, and hears one more: each of them once. */
const listens = async (consumer) => {
  const agent = await newAgent()
  const line = await openLine(server.baseUrl)
  const said = []
  const url = `${line.url}/v1/agents/${agent.agentId}/connect`
  const close = await consumer.open({ ...agent, url, baseUrl: line.url }, (event) => void said.push(event))
  const connections = () => said.filter(({ name }) => name === "connected").length
  const paid = () => said.filter(({ name }) => name === "transfer_completed")
  try {
    await until(() => connections() === 1)
    const first = await pay(agent)
    await until(() => paid().length === 1)
    expect("transfer", paid()[0].data.transfer_id, first)
    expect("amount and direction", `${paid()[0].data.amount} ${paid()[0].data.direction}`, "0.01 inbound")
    line.cut()
    const second = await pay(agent)
    const start = performance.now()
    line.heal()
    await until(() => paid().length === 2)
    const millis = Math.round(performance.now() - start)
    expect("resumed after", line.resumedAt.at(-1), paid()[0].id)
    const third = await pay(agent)
    await until(() => paid().length === 3)
    expect(
      "transfers",
      paid()
        .map(({ data }) => data.transfer_id)
        .join(),
      [first, second, third].join()
    )
    expect("resync", said.filter(({ name }) => name === "resync").length, 0)
    return `the missed one ${millis} ms after the line was whole`
  } finally {
    await close()
    line.close()
  }
}

const browser = await openBrowser()
for (const consumer of [...consumers, ...(browser?.consumers ?? [])]) {
  await attempt(consumer, "hears, is cut off, resumes with Last-Event-ID", () => listens(consumer))
}
if (browser === undefined) {
  const what = "left out: this machine has no Chromium"
  report({ client: "browser", version: "", protocol: "", what, passed: true, note: "", ms: 0 })
}
await browser?.close()
