import { assert, describe, it } from "vitest"
import type { ChannelEvent, WebhookEvent } from "#client/client.ts"
import { audience } from "#domain/Channel.ts"
import { catalogue } from "#domain/EventExamples.ts"

/** The types of events whose data is any record to the client: a new one is a type error below. */
type Undescribed<Event extends { readonly type: string; readonly data: unknown }> = Event extends Event
  ? string extends keyof Event["data"]
    ? Event["type"]
    : never
  : never

const reserved = new Set(
  catalogue.filter(({ description }) => description.includes("Reserved:")).map(({ type }) => type)
)

describe("the client describes the data of every event that something raises", () => {
  it("to a webhook", () => {
    const undescribed = {
      "approval.requested": true,
      "a2a.task.created": true,
      "a2a.task.updated": true,
      "a2a.task.completed": true,
      "a2a.task.disputed": true,
      "ucp.token.created": true,
      "ucp.token.settled": true,
      "ucp.token.expired": true
    } satisfies Record<Undescribed<WebhookEvent>, true>
    assert.sameMembers(Object.keys(undescribed), [...reserved])
  })

  it("in an agent's channel", () => {
    const undescribed = {
      task_assigned: true,
      task_updated: true,
      approval_requested: true,
      policy_violation: true
    } satisfies Record<Undescribed<ChannelEvent>, true>
    const told = audience.filter(({ type }) => !reserved.has(type)).map(({ name }) => name)
    for (const name of told) assert.doesNotHaveAnyKeys(undescribed, [name])
  })
})
