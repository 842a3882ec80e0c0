// A thread that does what a page tells it: hang, end, hoard or tell its environment. Else it answers with its own number, so that threads are told apart.
import { parentPort, threadId } from "node:worker_threads"
import { perform, type Task } from "#layers/PageReading/Task.ts"

const hang = () => {
  for (;;);
}
const hoard = () => {
  for (const hoarded: Array<object> = []; ; ) hoarded.push({ hoarded: hoarded.length })
}

parentPort?.on("message", (task: Task) => {
  if (task._tag !== "Page") return
  if (task.html === "hang") hang()
  if (task.html === "hoard") hoard()
  if (task.html === "end") process.exit(1)
  if (task.html === "throw") throw new Error("Thrown by the thread")
  const told = task.html === "environment" ? Object.entries(process.env).join(" ") : threadId
  parentPort?.postMessage(perform({ ...task, html: `<title>${told}</title>` }))
})
parentPort?.postMessage({ _tag: "Ready" })
