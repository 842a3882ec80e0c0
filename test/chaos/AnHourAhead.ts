/** Preloaded into a server: its machine's clock is an hour ahead of everybody else's. What counts time that has passed is right. */
const hour = 3_600_000
const { now } = Date

globalThis.Date = new Proxy(Date, {
  construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now() + hour] : args, self),
  get: (target, name) => (name === "now" ? () => now() + hour : Reflect.get(target, name)),
  apply: () => new Date(now() + hour).toString()
})
