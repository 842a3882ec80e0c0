// What runs in a thread of its own. It knows nothing but how to read; whatever goes wrong here ends the thread and nothing else.
import { parentPort } from "node:worker_threads"
import { perform, type Reply, type Task } from "./Task.ts"

const say = (reply: Reply) => parentPort?.postMessage(reply)

parentPort?.on("message", (task: Task) => say(perform(task)))
say({ _tag: "Ready" })
