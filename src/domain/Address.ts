/** What an address is to us: reachable by anyone, this machine, anything else that is not public unicast, or no address at all. */
export type AddressKind = "public" | "loopback" | "special" | "invalid"

/** Judges an IPv4 or IPv6 address in text form. An IPv4 address inside an IPv6 one is decoded and judged itself. */
export const addressKind = (text: string): AddressKind => {
  const v4 = parseIPv4(text)
  if (v4 !== undefined) return kindOfIPv4(v4)
  const v6 = parseIPv6(text)
  return v6 === undefined ? "invalid" : kindOfIPv6(v6)
}

/** What a hostname of a parsed URL says by itself, before any lookup: the kind of its address, or `name` if it has to be resolved. */
export const hostKind = (hostname: string): "public" | "loopback" | "special" | "name" => {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  const kind = addressKind(host)
  if (kind !== "invalid") return kind
  const name = host.endsWith(".") ? host.slice(0, -1) : host
  if (name === "localhost" || name.endsWith(".localhost")) return "loopback"
  // A name of one label, or below one of these, can only mean something on a private network.
  if (!name.includes(".") || privateZones.some((zone) => name.endsWith(zone))) return "special"
  return "name"
}

const privateZones = [".local", ".internal", ".localdomain", ".home.arpa", ".lan", ".intranet"]

const parseIPv4 = (text: string): number | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4) return undefined
  let value = 0
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    value = value * 256 + Number(part)
  }
  return value
}

/** Eight groups of 16 bits. A zone (`%eth0`) is dropped: it never makes an address public. */
const parseIPv6 = (text: string): ReadonlyArray<number> | undefined => {
  const zone = text.indexOf("%")
  let address = zone < 0 ? text : text.slice(0, zone)
  const lastColon = address.lastIndexOf(":")
  if (lastColon < 0) return undefined
  if (address.includes(".")) {
    const v4 = parseIPv4(address.slice(lastColon + 1))
    if (v4 === undefined) return undefined
    address = `${address.slice(0, lastColon + 1)}${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`
  }
  const halves = address.split("::")
  if (halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")))
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...tail]
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => parseInt(group, 16))
    : undefined
}

/** IPv4 ranges that are not public unicast: first address and prefix length (IANA special-purpose registry, and one cloud's host). */
const specialIPv4: ReadonlyArray<readonly [number, number]> = (
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["168.63.129.16", 32],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4]
  ] as const
).map(([first, bits]) => [(parseIPv4(first) ?? 0) / 2 ** (32 - bits), 2 ** (32 - bits)])

const kindOfIPv4 = (address: number): AddressKind => {
  if (address >>> 24 === 127) return "loopback"
  return specialIPv4.some(([prefix, size]) => Math.floor(address / size) === prefix) ? "special" : "public"
}

const kindOfIPv6 = (groups: ReadonlyArray<number>): AddressKind => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const embedded = g * 65536 + h
  if ((a | b | c | d | e) === 0) {
    if (f === 0xffff) return kindOfIPv4(embedded)
    if (f === 0 && embedded === 1) return "loopback"
    // IPv4-compatible addresses are not routed; on some systems those of loopback reach it.
    return f === 0 && kindOfIPv4(embedded) === "loopback" ? "loopback" : "special"
  }
  if (a === 0x64 && b === 0xff9b && (c | d | e | f) === 0) return kindOfIPv4(embedded)
  // Global unicast is 2000::/3, and nothing outside it: that leaves out NAT64 with a local prefix, SRv6 (5f00::/16),
  // discard-only, unique local, link-local, site-local and multicast addresses.
  if (a >>> 13 !== 1) return "special"
  if (a === 0x2001 && b < 0x200) return "special"
  if (a === 0x2001 && b === 0xdb8) return "special"
  if (a === 0x2002) return "special"
  if (a === 0x3fff && b < 0x1000) return "special"
  return "public"
}
