// A thread that does what a page tells it: hang, end or hoard. It answers with its own number, so that threads are told apart.
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
  parentPort?.postMessage(perform({ ...task, html: `<title>${threadId}</title>` }))
})
parentPort?.postMessage({ _tag: "Ready" })
