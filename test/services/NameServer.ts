import { createSocket } from "node:dgram"
import { once } from "node:events"

/** A name server: A and AAAA records by name, the latter as their whole eight groups; a name without one is NXDOMAIN, and one that is null is never answered. One that `isLost` is not answered: `asking` counts those before it of its name and type. */
export const nameServer = async (
  records: Record<string, ReadonlyArray<string> | null>,
  use: (address: string) => Promise<void>,
  isLost: (asking: number, family: 4 | 6) => boolean = () => false
) => {
  const asked: Array<string> = []
  const unanswered = new Map<string, number>()
  const server = createSocket("udp4")
  server.on("message", (query, { address, port }) => {
    const labels: Array<string> = []
    let at = 12
    while (query[at] !== 0) {
      labels.push(query.subarray(at + 1, at + 1 + (query[at] ?? 0)).toString())
      at += 1 + (query[at] ?? 0)
    }
    const name = labels.join(".")
    const ipv4 = query.readUInt16BE(at + 1) === 1
    asked.push(name)
    const known = records[name]
    const before = unanswered.get(`${name} ${ipv4}`) ?? 0
    unanswered.set(`${name} ${ipv4}`, before + 1)
    if (known === null || isLost(before, ipv4 ? 4 : 6)) return
    const addresses = (known ?? []).filter((ip) => ip.includes(":") !== ipv4)
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(addresses.length, 6)
    head.writeUInt32BE(0, 8)
    const answers = addresses.map((ip) => {
      const bytes = ipv4 ? ip.split(".").map(Number) : ip.split(":").flatMap((group) => [...Buffer.from(group, "hex")])
      return Buffer.from([0xc0, 12, 0, ipv4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
    })
    server.send(Buffer.concat([head, query.subarray(12, at + 5), ...answers]), port, address)
  })
  server.bind(0, "127.0.0.1")
  await once(server, "listening")
  await use(`127.0.0.1:${server.address().port}`)
  server.close()
  return asked
}
