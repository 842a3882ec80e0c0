import { assert } from "@effect/vitest"
import { createPrivateKey, sign } from "node:crypto"
import { comingsOf } from "./Deliveries.ts"
import { hear } from "./Desk.ts"
import type { Told } from "./Load.ts"
import { api, type Client, must } from "./Paying.ts"
import { pause, type Server } from "./Servers.ts"

interface Listener {
  readonly id: string
  readonly wallet: string
  readonly seed: string
  readonly heard: Set<string>
  token: string
  lastEventId: string
  connections: number
  resyncs: number
  isConnected: boolean
}

/** An Ed25519 seed as a PKCS#8 key. */
const keyOf = (seed: string) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(seed, "base64")]),
    format: "der",
    type: "pkcs8"
  })

const logIn = async (client: Client, listener: Listener) => {
  const { challenge } = await must(client, "POST", `/v1/agents/${listener.id}/challenge`)
  const signature = sign(null, Buffer.from(challenge), keyOf(listener.seed)).toString("base64")
  const { sessionToken } = await must(client, "POST", `/v1/agents/${listener.id}/authenticate`, {
    challenge,
    signature
  })
  listener.token = sessionToken
}

const take = (listener: Listener, frame: string) => {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(frame)?.[1]
  const [event, id, data] = [field("event"), field("id"), field("data")]
  if (event === "connected") {
    listener.connections++
    listener.isConnected = true
  }
  if (event === "resync") listener.resyncs++
  if (event === "transfer_completed") listener.heard.add(JSON.parse(data ?? "{}").transfer_id)
  if (id !== undefined) listener.lastEventId = id
}

let turn = 0

/** One connection to whichever server is next, until it ends. */
const listen = async (client: Client, listener: Listener, signal: AbortSignal) => {
  const bases = client.bases()
  const answer = await fetch(`${bases[turn++ % bases.length]}/v1/agents/${listener.id}/connect`, {
    headers: {
      authorization: `Bearer ${listener.token}`,
      ...(listener.lastEventId === "" ? {} : { "last-event-id": listener.lastEventId })
    },
    signal
  })
  if (answer.status === 401) await logIn(client, listener)
  if (answer.status !== 200 || answer.body === null) return void (await answer.body?.cancel())
  let rest = ""
  for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
    const frames = (rest + text).split("\n\n")
    rest = frames.pop() ?? ""
    for (const frame of frames) take(listener, frame)
  }
}

/** An agent of its own, logged in. */
const newListener = async (client: Client, name: string): Promise<Listener> => {
  const { authKey, data } = await must(client, "POST", "/v1/agents", {
    name,
    generateKeypair: true,
    walletNetwork: "base-sepolia"
  })
  const listener: Listener = {
    id: data.id,
    wallet: data.wallet_id,
    seed: authKey.privateKey,
    heard: new Set<string>(),
    token: "",
    lastEventId: "",
    connections: 0,
    resyncs: 0,
    isConnected: false
  }
  await logIn(client, listener)
  return listener
}

/** A wallet with money for agents. */
const fundedPurse = async (client: Client, told: Told): Promise<string> => {
  const { id } = await must(client, "POST", "/v1/wallets", { currency: "USDC", network: "base-sepolia" })
  const order = { amount: "100.00", currency: "USDC" }
  const { body } = await api(client, "POST", `/v1/wallets/${id}/fund`, order, crypto.randomUUID())
  told.funded.push({ wallet: id, transfer: body.transfer_id })
  return id
}

/**
 * An agent that is connected to a server that is killed, and that does not come back before everybody knows: within the lease it is
 * shown as gone, that is told once, and it goes on at another server with exactly what followed.
 */
export const leaveAlone = async (client: Client, server: Server, url: string, told: Told) => {
  const listener = await newListener(client, "Left alone")
  const purse = await fundedPurse(client, told)
  const there = { ...client, bases: () => [server.base] }
  const listening = (async () => {
    while (!listener.isConnected) await listen(there, listener, new AbortController().signal)
  })().catch(() => {
    // The server is killed, and may be before anybody waits for this.
  })
  while (!listener.isConnected) await pause(10)
  await server.kill("SIGKILL")
  const killedAt = performance.now()
  await listening
  const order = { from_wallet_id: purse, to_wallet_id: listener.wallet, amount: "0.01", currency: "USDC" }
  const { body } = await api(client, "POST", "/v1/transfers", order, crypto.randomUUID())
  hear({ client, dollars: [], euros: [], told: told.trades }, body)

  /** Waits for the rest of it. */
  const ended = async () => {
    const askedAt = performance.now()
    const { connected } = await must(client, "GET", `/v1/agents/${listener.id}/liveness`)
    assert.isTrue(!connected || askedAt - killedAt < 47_000, "nobody is connected longer than the lease")
    while ((await comingsOf(url, listener.id)).length < 2) {
      assert.isBelow(performance.now() - askedAt, 75_000, "it is told that the agent is gone")
      await pause(200)
    }
    const { connected: still } = await must(client, "GET", `/v1/agents/${listener.id}/liveness`)
    assert.isFalse(still)
    const ending = new AbortController()
    const again = (async () => {
      while (!ending.signal.aborted) await listen(client, listener, ending.signal).catch(() => pause(100))
    })()
    const backAt = performance.now()
    while (listener.heard.size === 0) {
      assert.isBelow(performance.now() - backAt, 60_000, "it is told what it missed")
      await pause(10)
    }
    const comings = await comingsOf(url, listener.id)
    ending.abort()
    await again
    assert.deepStrictEqual([[...listener.heard], listener.resyncs], [[body.id], 0])
    assert.deepStrictEqual(comings, ["agent.connected", "agent.disconnected", "agent.connected"])
  }
  return { ended }
}

/** Agents that keep a channel open and are sent money, until `stop`. */
export const openChannels = async (client: Client, count: number, told: Told) => {
  const purse = await fundedPurse(client, told)
  const listeners: Array<Listener> = []
  for (let index = 0; index < count; index++) {
    listeners.push(await newListener(client, `Listener ${index}`))
  }
  const ending = new AbortController()
  const listening = listeners.map(async (listener) => {
    while (!ending.signal.aborted) {
      await listen(client, listener, ending.signal).catch(() => {})
      listener.isConnected = false
      await pause(100)
    }
  })
  while (!listeners.every(({ isConnected }) => isConnected)) await pause(20)

  let paying = true
  const sent = new Map(listeners.map(({ id }) => [id, new Set<string>()]))
  const payment = (async () => {
    for (let index = 0; paying; index++) {
      const listener = listeners[index % count]
      if (listener === undefined) return
      const order = { from_wallet_id: purse, to_wallet_id: listener.wallet, amount: "0.01", currency: "USDC" }
      const { body, status } = await api(client, "POST", "/v1/transfers", order, crypto.randomUUID())
      assert.strictEqual(status, 201, JSON.stringify(body))
      hear({ client, dollars: [], euros: [], told: told.trades }, body)
      sent.get(listener.id)?.add(body.id)
      await pause(50)
    }
  })()

  // Who never had an event has no place in the stream to come back to.
  while (!listeners.every(({ heard }) => heard.size > 0)) await pause(20)

  /** Ends the payments, waits until every agent heard of all of its own, and looks whether every server knows that it is there. */
  const settle = async () => {
    paying = false
    await payment
    const began = performance.now()
    const unheard = () =>
      listeners.flatMap(({ heard, id }) => [...(sent.get(id) ?? [])].filter((transfer) => !heard.has(transfer)))
    while (unheard().length > 0 || !listeners.every(({ isConnected }) => isConnected)) {
      assert.isBelow(performance.now() - began, 60_000, `${unheard().join(", ")} were not told`)
      await pause(50)
    }
    for (const base of client.bases()) {
      for (const { id } of listeners) {
        const { connected } = await must({ ...client, bases: () => [base] }, "GET", `/v1/agents/${id}/liveness`)
        assert.isTrue(connected, `${base} knows that ${id} is connected`)
      }
    }
    return {
      agents: count,
      told: [...sent.values()].reduce((sum, { size }) => sum + size, 0),
      reconnects: listeners.reduce((sum, { connections }) => sum + connections - 1, 0),
      resyncs: listeners.reduce((sum, { resyncs }) => sum + resyncs, 0)
    }
  }
  const close = async () => {
    ending.abort()
    await Promise.all(listening)
  }
  return { settle, close }
}
