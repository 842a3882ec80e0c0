import { lookup, type LookupAddress, Resolver } from "node:dns"
import { isIP, type LookupFunction } from "node:net"
import { Data, Duration } from "effect"
import { buildConnector } from "undici"
import { addressKind, hostKind } from "#domain/Address.ts"
import { isListed, refuseTarget, type OriginRefusal } from "#domain/OriginUrl.ts"
import { hearOut } from "./HearOut.ts"
import type { ConnectRules } from "./Policy.ts"

/** Carries a refusal through undici, which knows only thrown errors. */
export class ForbiddenTarget extends Data.TaggedError("ForbiddenTarget")<{ readonly reason: OriginRefusal }> {}

/**
 * Opens connections to addresses the policy allows, and to no others. The name, the literal, every address the name has, and the
 * address the socket ended at are judged; the socket goes to an address that was judged, with the name's own SNI and `Host`.
 */
export const guardedConnector = (policy: ConnectRules): buildConnector.connector => {
  const timeout = Duration.toMillis(policy.connectTimeout)
  // However long it may wait, c-ares gives up on a server that was quick before after about a second, when one that has to ask far away
  // itself is not done yet; and a datagram may be lost. So servers are asked again, until the time for a name is over.
  const asking = Math.ceil((timeout * lookupShare) / askings)
  const resolver = new Resolver({ timeout: asking, maxTimeout: asking, tries: askings })
  if (policy.nameServers.length > 0) resolver.setServers(policy.nameServers)
  const mayReach = (address: string) => {
    const kind = addressKind(address)
    return kind === "public" || (kind === "loopback" && policy.allowLoopback)
  }
  const tls = { timeout, allowH2: false, autoSelectFamily: true }
  // A host the deployment listed may stand in /etc/hosts or on a private name server; only for those is the system asked.
  const listed = buildConnector({ ...tls, lookup: lookup as LookupFunction })
  const judged = buildConnector({ ...tls, lookup: judgedLookup(resolver, mayReach, timeout * lookupShare) })

  return (options, callback) => {
    const { hostname, protocol, port } = options
    // undici takes the brackets off; the rules speak of hosts as URLs spell them.
    const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
    const portNumber = port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)
    // The lookup hook is never asked about literals, so they are judged here.
    const refusal = refuseTarget(host, portNumber, policy)
    if (refusal !== undefined) return callback(new ForbiddenTarget({ reason: refusal }), null)
    const free = isListed(host, portNumber, policy)
    const connect = free ? listed : judged
    connect(options, (...outcome) => {
      const [error, socket] = outcome
      if (error !== null) return callback(error, null)
      if (!free && !mayReach(socket.remoteAddress ?? "")) {
        socket.destroy()
        return callback(new ForbiddenTarget({ reason: "AddressNotPublic" }), null)
      }
      socket.prependListener("error", (error: NodeJS.ErrnoException) => {
        if (error.code !== "ECONNRESET" && error.code !== "EPIPE") return
        // undici takes ECONNRESET for the end of a body whose length is unknown. A reset is never a clean end here.
        if (error.code === "ECONNRESET") error.code = "ORIGIN_RESET"
        // As undici's own errors have it.
        Object.assign(error, { socket: { bytesRead: socket.bytesRead } })
      })
      hearOut(socket)
      callback(null, socket)
    })
  }
}

/** How much of the time for a connection its name may take, so that a name server that hangs is told from an address that does. */
const lookupShare = 0.75

/** How often a name server is asked within that time. */
const askings = 4

/** What name servers say of a name without an address. */
const noAddress = new Set(["ENOTFOUND", "ENODATA"])

/** Answers with every address of a name, or refuses if one of them may not be reached: a mixed answer is an attack. */
const judgedLookup =
  (resolver: Resolver, mayReach: (address: string) => boolean, timeout: number): LookupFunction =>
  (hostname, options, callback) => {
    const found: Array<LookupAddress> = []
    let failure: NodeJS.ErrnoException = new Error(`No address for ${hostname}`)
    const answer = () => {
      if (found.some(({ address }) => !mayReach(address))) {
        return callback(new ForbiddenTarget({ reason: "AddressNotPublic" }), [])
      }
      const [first] = found
      if (first === undefined) return callback(failure, [])
      if (options.all === true) callback(null, found)
      else callback(null, first.address, first.family)
    }
    if (hostKind(hostname) === "loopback") {
      found.push({ address: "127.0.0.1", family: 4 }, { address: "::1", family: 6 })
      return answer()
    }
    let waiting = 2
    let answers = 0
    const over = () => {
      waiting = 0
      clearTimeout(half)
      clearTimeout(late)
      answer()
    }
    // The resolver's own limit is for each of its servers, and these may be many. Real time, because it is a matter of sockets.
    // @effect-diagnostics-next-line globalTimers:off
    const late = setTimeout(() => {
      failure = Object.assign(new Error(`No answer about ${hostname}`), { code: "ETIMEOUT", syscall: "query" })
      over()
    }, timeout)
    // Some servers never say that a name has no address of the other family. What they said will do then: nothing else is called.
    // @effect-diagnostics-next-line globalTimers:off
    const half = setTimeout(() => {
      if (found.length > 0) over()
    }, timeout / 2)
    const collect = (family: number) => (error: NodeJS.ErrnoException | null, addresses?: ReadonlyArray<string>) => {
      if (waiting === 0) return
      // One that gave no answer says more than one that knows of no address: the name may have one after all.
      if (error !== null && (answers === 0 || !noAddress.has(error.code ?? ""))) failure = error
      answers++
      for (const address of addresses ?? []) found.push({ address, family })
      if (--waiting === 0) over()
    }
    // c-ares, not `dns.lookup`: a name server that hangs would hold the process's few threads for files and lookups.
    resolver.resolve4(hostname, collect(4))
    resolver.resolve6(hostname, collect(6))
  }
