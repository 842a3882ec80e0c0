import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentLiveness } from "#domain/Channel.ts"
import { AgentId } from "#domain/Ids.ts"
import { NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { problem, problems } from "./Problems.ts"

const params = { id: AgentId }

const stream =
  "retry: 3214\n" +
  "event: connected\nid: evt_01h455vb4pex5vsknk084sn02p\n" +
  'data: {"agent_id":"agt_01h455vb4pex5vsknk084sn02q","session_id":"ses_01h455vb4pex5vsknk084sn02r",' +
  '"connected_at":"2026-01-02T03:04:05.678Z","resumed":false,"last_event_id":null}\n\n' +
  'event: transfer_completed\nid: evt_01h455vb4pex5vsknk084sn02s\ndata: {"transfer_id":"tx_01h455vb4pex5vsknk084sn02t",' +
  '"amount":"12.50","currency":"USDC","direction":"inbound","wallet_id":"wal_01h455vb4pex5vsknk084sn02v","transfer":{}}\n\n' +
  "event: heartbeat\ndata: {}\n\n"

/** The path of the channel; a raw route takes it before the framework does. */
export const connectAgent = HttpApiEndpoint.get("connect", "/agents/:id/connect", {
  params,
  headers: { "last-event-id": Schema.optionalKey(Schema.String) },
  query: { last_event_id: Schema.optionalKey(Schema.String) },
  success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" })),
  error: problems(NotFound, ServiceUnavailable)
})
  .annotate(Requires, { kinds: ["session_token"] })
  .annotateMerge(
    documented({
      summary: "Open the event channel of an agent",
      description:
        "Server-sent events (`text/event-stream`) for the agent whose session token this is; another agent's id is 404. Each " +
        "event has a name, one line of JSON, and, when it is a fact, its event id (`evt_...`).\n\n" +
        "| Event | Data |\n|---|---|\n" +
        "| `connected` | first: `{agent_id, session_id, connected_at, resumed, last_event_id}` |\n" +
        "| `task_assigned` | `{task}`: a task for this agent, whole |\n" +
        "| `task_updated` | `{task}`: a task of this agent changed, was done or is disputed |\n" +
        "| `transfer_completed` | `{transfer_id, amount, currency, direction, wallet_id, transfer}`; `direction` is `inbound` or " +
        "`outbound`, `wallet_id` the agent's own; what is paid into a stream is told to the payer alone |\n" +
        "| `approval_requested` | `{approval}` |\n" +
        "| `stream_alert` | `{stream, alert: {severity, runway_seconds}}`: a money stream that this agent pays runs short |\n" +
        "| `policy_violation` | a payment of this agent that its policy refused |\n" +
        "| `key_rotated` | `{agent_id, key_id, new_public_key}`; the sessions of the old key end, and with them this connection |\n" +
        "| `heartbeat` | `{}`, every 30 seconds |\n" +
        "| `resync` | `{reason, from, to}`: what came between two events is gone; ask for what matters. `reason` is `unknown`, " +
        "`expired` or `malformed` |\n" +
        "| `reconnect_required` | `{reason}`: open another connection. `max_duration` (after 23:55; this one closes at 24:00), " +
        "`shutdown`, `lost`, `session_ended` (log in first); but for the first the connection closes at once |\n" +
        "| `superseded` | `{}`: a later connection of the same session token took this one's place; do not reconnect |\n\n" +
        "`task_assigned`, `task_updated`, `approval_requested` and `policy_violation` are reserved: nothing raises them in this " +
        "version.\n\n" +
        "**Resuming**: `Last-Event-ID` names the last event that was handled; so does `last_event_id` in the query, for clients " +
        "that cannot set the header, which counts more. The stream goes on with exactly what followed it, in order, without a " +
        "gap or a repetition, as long as all of it is among the agent's last 100 events and no older than 5 minutes. Otherwise " +
        "nothing is replayed, `resync` comes first, and live events follow. Without it the stream begins with what happens from " +
        "`connected` on. `connected` and `resync` carry as their id the event after which the stream goes on; " +
        "`evt_00000000000000000000000000` is the place before the agent's first.\n\n" +
        "**Life**: one connection per session token, on whatever process: a later one closes the earlier. A connection lives " +
        "24 hours at most and outlives the hour of its token, but not its revocation, nor the suspension of the agent; " +
        "reconnecting takes a token that is valid then. A reader that takes nothing for three heartbeats, or is more than 100 " +
        "events and a minute behind, is cut off. `retry` says how soon to come back.",
      toldInWords: ["last_event_id"],
      stream
    })
  )

const liveness = HttpApiEndpoint.get("liveness", "/agents/:id/liveness", {
  params,
  success: AgentLiveness,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "agents", action: "read" })
  .annotateMerge(
    documented({
      summary: "Is an agent connected",
      description:
        "Whether the agent has an open event channel on any process, and since when. `last_seen_at` and `last_event_id`, the " +
        "last event that was written to it, are at most 20 seconds behind. An agent whose process was killed is shown as " +
        "connected for up to 45 seconds more. Not being connected is no fault: it stays active.",
      answer: {
        agent_id: "agt_01h455vb4pex5vsknk084sn02q",
        connected: true,
        connected_since: "2026-01-02T03:04:05.678Z",
        last_seen_at: "2026-01-02T03:05:05.678Z",
        last_event_id: "evt_01h455vb4pex5vsknk084sn02r",
        transport: "sse"
      }
    })
  )

export class AgentChannelApi extends HttpApiGroup.make("agent_channel")
  .add(connectAgent, liveness)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent channel",
      description: "Events for agents over connections that they keep open, and which of them are there."
    })
  ) {}
