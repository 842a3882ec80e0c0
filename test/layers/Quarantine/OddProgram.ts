// A process that does what a page tells it: hang, end, hoard, hold, wait, or tell its environment or what else it was asked, none of which
// it answers. Else it answers with its own number, so that processes are told apart.
import { say } from "#layers/Quarantine/Saying.ts"
import type { Sent } from "#layers/Quarantine/Calls.ts"
import { perform, type Task } from "#layers/PageReading/Task.ts"

const hoarded: Array<object> = []
const deeds: Readonly<Record<string, () => void>> = {
  hang: () => {
    for (;;);
  },
  end: () => process.exit(1),
  hoard: () => {
    for (;;) hoarded.push({ hoarded: hoarded.length })
  },
  hold: () => {
    hoarded.push(new Uint8Array(400_000_000).fill(1))
  },
  wait: () => undefined
}

const asked: Array<string> = []
const told: Readonly<Record<string, () => string>> = {
  environment: () => JSON.stringify(process.env),
  asked: () => asked.join(" ")
}

process.on("disconnect", () => process.exit())
process.on("message", (sent: Sent) => {
  if (sent._tag !== "Call") return
  if (sent.name !== "read") return asked.push(sent.name)
  const task = sent.args[0] as Extract<Task, { readonly _tag: "Page" }>
  const html = String(task.html)
  const deed = deeds[html]
  if (deed !== undefined) return deed()
  const title = told[html]?.() ?? process.pid
  say({ _tag: "Answer", id: sent.id, answer: perform({ ...task, html: `<title>${title}</title>` }) })
})
say({ _tag: "Ready" })
