import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { percentile, say } from "../Bench.ts"
import * as ProcessUse from "../gateway/ProcessUse.ts"

const port = 8_099
const server = ["/usr/sbin/nginx", "/usr/local/sbin/nginx"].find((path) => existsSync(path))
const library = ["/usr/lib/nginx/modules/ngx_nchan_module.so", "/usr/local/nginx/modules/ngx_nchan_module.so"].find(
  (path) => existsSync(path)
)

/** The same history as an agent's channel has: 100 messages or five minutes. */
const config = (folder: string) => `load_module ${library};
worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/log; worker_rlimit_nofile 20000;
events { worker_connections 12000; }
http { access_log off; server { listen 127.0.0.1:${port};
  location ~ /sub/(\\w+)$ { nchan_subscriber eventsource; nchan_channel_id $1; nchan_subscriber_first_message newest; }
  location ~ /pub/(\\w+)$ {
    nchan_publisher; nchan_channel_id $1; nchan_message_buffer_length 100; nchan_message_timeout 5m; } } }`

/** Subscribes to a channel, and comes back when it is answered. */
const subscribe = (channel: string, place: number, arrived: (text: string) => void): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.0.${2 + (place % 4)}` }, () =>
      socket.write(`GET /sub/${channel} HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\n\r\n`)
    )
    socket.once("error", reject)
    socket.once("data", () => resolve(socket))
    socket.on("data", (chunk) => arrived(chunk.toString("latin1")))
  })

/** What nchan needs for the same, without a database behind it and without knowing who listens; nothing where it is not installed. */
export const beside = async (idle: number, facts: number, spacing: number): Promise<void> => {
  if (server === undefined || library === undefined) return say("     nchan is not installed: no side by side")
  const folder = mkdtempSync(join(tmpdir(), "nchan-"))
  writeFileSync(join(folder, "nginx.conf"), config(folder))
  const nginx = spawn(server, ["-c", join(folder, "nginx.conf"), "-p", folder], { stdio: "ignore" })
  const sockets: Array<Socket> = []
  try {
    await setTimeout(1_500)
    const workers = ProcessUse.descendants(nginx.pid ?? 0)
    const resident = () => workers.reduce((sum, pid) => sum + ProcessUse.residentMegabytes(pid), 0)
    for (let place = 0; place < 500; place++) sockets.push(await subscribe(`warm${place}`, place, () => {}))
    const before = resident()
    for (let place = 0; place < idle; place++) sockets.push(await subscribe(`idle${place}`, place, () => {}))
    await setTimeout(2_000)
    const latencies: Array<number> = []
    const now = () => performance.timeOrigin + performance.now()
    const arrived = (text: string) => {
      for (const [, at] of text.matchAll(/committed(\d+\.\d+)/g)) latencies.push(now() - Number(at))
    }
    say(`     nchan: ${(((resident() - before) * 1_024) / idle).toFixed(2)} KB for an idle connection`)
    sockets.push(await subscribe("told", 0, arrived))
    for (let count = 0; count < facts; count++) {
      await fetch(`http://127.0.0.1:${port}/pub/told`, { method: "POST", body: `committed${now().toFixed(3)}` })
      await setTimeout(spacing)
    }
    await setTimeout(500)
    const [median, slow] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
    say(`     nchan, in memory: ${latencies.length} arrivals, p50 ${median.toFixed(1)} ms, p99 ${slow.toFixed(1)} ms`)
  } finally {
    for (const socket of sockets) socket.destroy()
    nginx.kill("SIGTERM")
    rmSync(folder, { recursive: true, force: true })
  }
}
