import { Context, Effect } from "effect"
import { readFile } from "node:fs/promises"

/** An address as Linux writes it in its tables: words of four bytes, each in the order of the machine. */
const addressOf = (hex: string): string => {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    [6, 4, 2, 0].map((place) => Number.parseInt(word.slice(place, place + 2), 16))
  )
  if (bytes.length === 4) return bytes.join(".")
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0))
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (mapped) return bytes.slice(12).join(".")
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1)
}

/** By what a connection is known here. Another server on this machine may have the same peer on another port. */
export const peerOf = (localPort: number | undefined, address: string, port: number | undefined): string =>
  `${localPort}<${address.replace(/^::ffff:(?=\d+\.)/, "")}:${port}`

/** What the system keeps for a peer. `isVain`: it sends that again and again, and nothing answers; else the peer does not read it. */
export interface Kept {
  readonly bytes: number
  readonly isVain: boolean
}

/**
 * A row of a connection that is sent something for another time, whose peer has no room for more, or for which 256 KB are kept: its
 * local port, its peer's address and port, the bytes, and the timer. Nearly no row is one, and the tables are as long as there are
 * connections: they are looked through without being taken apart.
 */
const slow =
  /^ *\d+: [\dA-F]+:([\dA-F]{4}) ([\dA-F]+):([\dA-F]{4}) [\dA-F]{2} (?!00000000)(?=[\dA-F]{8}:[\dA-F]{8} (?:01:[\dA-F]{8} (?!00000000)|04)|(?!000[0-3]))([\dA-F]{8}):[\dA-F]{8} (0[\dA-F]):[\dA-F]{8} ([\dA-F]{8}) /gm

/** The connections of which the system keeps what should have been read. */
export const readTable = (table: string, found: Map<string, Kept>): Map<string, Kept> => {
  for (const [, localPort = "", address = "", port = "", bytes = "", timer, again] of table.matchAll(slow)) {
    found.set(peerOf(Number.parseInt(localPort, 16), addressOf(address), Number.parseInt(port, 16)), {
      bytes: Number.parseInt(bytes, 16),
      isVain: timer === "01" && again !== "00000000"
    })
  }
  return found
}

const tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]

/**
 * What the system keeps for peers. One that vanished takes heartbeats for a quarter of an hour, as far as its socket tells, and one that
 * does not read takes megabytes, because the system has room for them: only it knows that none arrives. Where there are no such tables
 * nothing is known, and the system decides.
 */
export const Unanswered = Context.Reference("turnpike/services/AgentChannel/Unanswered", {
  defaultValue: (): Effect.Effect<ReadonlyMap<string, Kept>> =>
    Effect.forEach(tables, (table) => Effect.promise(() => readFile(table, "latin1").catch(() => ""))).pipe(
      Effect.map((texts) => texts.reduce((found, text) => readTable(text, found), new Map<string, Kept>()))
    )
})
