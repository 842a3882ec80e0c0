import { EventSource } from "eventsource"
import { createEventSource } from "eventsource-client"
import { agentChannel } from "../../../src/client/client.ts"
import { versionOf } from "../x402/versionOf.ts"

/** What a channel may say; consumers of the standard ask for each by name. */
export const names = ["connected", "transfer_completed", "resync", "reconnect_required", "superseded"]

export const row = (client, where) => ({ client, version: versionOf(client, import.meta.dirname), protocol: where })

/**
 * Consumers in this process, each used as its own documentation says: `open({ url, token, baseUrl, agentId, privateKey }, heard)`
 * answers what closes it.
 */
export const consumers = [
  {
    ...row("eventsource", "Node"),
    open: ({ token, url }, heard) => {
      const source = new EventSource(url, {
        fetch: (input, init) =>
          fetch(input, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } })
      })
      for (const name of names) {
        source.addEventListener(name, ({ data, lastEventId }) =>
          heard({ id: lastEventId, name, data: JSON.parse(data) })
        )
      }
      return () => source.close()
    }
  },
  {
    ...row("eventsource-client", "Node"),
    open: ({ token, url }, heard) => {
      const source = createEventSource({
        url,
        headers: { Authorization: `Bearer ${token}` },
        onMessage: ({ data, event, id }) => heard({ id, name: event, data: JSON.parse(data) })
      })
      return () => source.close()
    }
  },
  {
    client: "agentChannel",
    version: "",
    protocol: "Node",
    open: ({ agentId, baseUrl, privateKey }, heard) => {
      const channel = agentChannel({ baseUrl, agentId, privateKey, onConnect: () => heard({ name: "connected" }) })
      const listening = async () => {
        for await (const { data, id, type } of channel) heard({ id, name: type, data })
      }
      void listening()
      return () => channel.return()
    }
  }
]
