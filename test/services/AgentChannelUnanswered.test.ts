import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { connect, createServer } from "node:net"
import { peerOf, readTable, Unanswered } from "#services/AgentChannel/Unanswered.ts"

const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
/** A row as Linux writes it. The local port is 4020. */
const row = (remote: string, timer: string, retransmits: string, local = "0100007F:0FB4", bytes = "0000001C") =>
  `   7: ${local} ${remote} 01 ${bytes}:00000000 ${timer}:0000001A ${retransmits}     0        0 41234 2 0000000000000000 20 4 30 10 -1\n`

it("what is sent again and again is read from the tables of the system, by either kind of address", () => {
  const six = "00000000000000000000000001000000:0FB4"
  const text = [
    head,
    row("0200007F:D431", "01", "00000003"),
    row("B80D0120000000000000000001000000:01BB", "01", "00000001", six),
    row("0000000000000000FFFF00000A00A8C0:C350", "01", "00000002", six),
    // Sent, and not yet late; alive, with a probe under way; not a row at all.
    row("0300007F:D431", "01", "00000000"),
    row("0400007F:D431", "02", "00000003"),
    "garbage\n"
  ].join("")
  assert.deepStrictEqual(
    [...readTable(text, new Map())],
    [
      [peerOf(4020, "127.0.0.2", 0xd431), { bytes: 28, isVain: true }],
      [peerOf(4020, "2001:db8::1", 443), { bytes: 28, isVain: true }],
      [peerOf(4020, "::ffff:192.168.0.10", 50_000), { bytes: 28, isVain: true }]
    ]
  )
  // Another listener of this machine may have the same peer.
  assert.isFalse(readTable(text, new Map()).has(peerOf(4021, "127.0.0.2", 0xd431)))
})

it("what a peer has no room for, and very much of what it takes slowly, is read from them as well", () => {
  const text = [
    head,
    // No room, of which the system is told at times, or asks for; much on its way; a little less; no room, and nothing to be told.
    row("0200007F:D431", "04", "00000000"),
    row("0600007F:D431", "04", "00000002"),
    row("0300007F:D431", "01", "00000000", undefined, "00040000"),
    row("0400007F:D431", "01", "00000000", undefined, "0003FFFF"),
    row("0500007F:D431", "04", "00000000", undefined, "00000000")
  ].join("")
  assert.deepStrictEqual(
    [...readTable(text, new Map())],
    [
      [peerOf(4020, "127.0.0.2", 0xd431), { bytes: 28, isVain: false }],
      [peerOf(4020, "127.0.0.6", 0xd431), { bytes: 28, isVain: false }],
      [peerOf(4020, "127.0.0.3", 0xd431), { bytes: 262_144, isVain: false }]
    ]
  )
})

it.live("peers that answer are not among them, and nothing is known where there are no tables", () =>
  Effect.gen(function* () {
    const server = createServer().listen(0, "127.0.0.1")
    yield* Effect.promise(() => once(server, "listening"))
    const address = server.address()
    assert.isTrue(typeof address === "object" && address !== null)
    if (typeof address !== "object" || address === null) return
    const accepted = once(server, "connection")
    const client = connect(address.port, "127.0.0.1")
    yield* Effect.promise(() => accepted)
    const unanswered = yield* yield* Unanswered
    assert.isFalse(unanswered.has(peerOf(address.port, "127.0.0.1", client.localPort)))
    client.destroy()
    server.close()
    assert.deepStrictEqual([...readTable("", new Map())], [])
  })
)
