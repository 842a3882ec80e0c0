import { Context, Duration } from "effect"

/** How much is sent at once and how long anybody is waited for. A reference, so a deployment or a test changes it. */
export const DeliveryPolicy = Context.Reference("turnpike/services/WebhookDeliveries/Policy", {
  defaultValue: () => ({
    /** From lookup to the last byte of the answer. */
    timeout: Duration.seconds(15),
    /** After it whoever makes the attempt has no say any more. Longer than the call and what writes its end together. */
    lease: Duration.seconds(45),
    /** How many first attempts and how many others a subscription has in flight at most, in all processes. */
    first: 6,
    again: 2,
    /** How many calls a process has in flight at most; each subscription gets less of it the fuller it is. */
    inFlight: 4096,
    /** How many attempts are taken at once, and their ends written. */
    batch: 512,
    /** How often a process looks for what is due when nobody wakes it. */
    poll: Duration.seconds(1),
    /** How long a process that stops waits for the calls in flight; what is then left is given up, and another makes it again. */
    drain: Duration.seconds(8)
  })
})
export type DeliveryPolicy = (typeof DeliveryPolicy)["Service"]
