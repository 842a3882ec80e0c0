import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fieldsOf, type Operation, operations } from "./Description.ts"
import { type Answer, server } from "./GatewayHarness.ts"
import { bodies, headers, ids, queries, values } from "./Nonsense.ts"
import { pick, type Random, randomOf } from "./Random.ts"
import { type Request, type World, world } from "./World.ts"

/** Set `FUZZ_SEED` to the seed that a failure printed; `FUZZ_RUNS` is how many requests each operation gets. */
const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31))
const runs = Number(process.env["FUZZ_RUNS"] ?? 60)

const member = (name: string, value: string) => `${JSON.stringify(name)}:${value}`

/** One request that is wrong somewhere. */
const mutate = (random: Random, operation: Operation, good: Readonly<Record<string, unknown>> | undefined): Request => {
  const request: Record<string, unknown> = {}
  const part = random()
  if (operation.params.length > 0 && part < 0.25) request["id"] = pick(random, ids)
  if (part > 0.85) request["query"] = pick(random, queries)
  if (part > 0.75 && part < 0.9) request["headers"] = pick(random, headers)
  if (operation.method === "GET") {
    if (part < 0.6)
      request["query"] = [pick(random, queries), pick(random, queries)].slice(0, random() < 0.5 ? 1 : 2).join("&")
  } else if (good === undefined || random() < 0.15) request["body"] = pick(random, bodies)
  else {
    const members = new Map(Object.entries(good).map(([name, value]) => [name, member(name, JSON.stringify(value))]))
    const names = [...Object.keys(fieldsOf(operation)), "__proto__", "id", "tenant_id", "constructor"]
    for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--) {
      const name = pick(random, names)
      if (random() < 0.1) members.delete(name)
      else members.set(random() < 0.1 ? `${name} again` : name, member(name, pick(random, values)))
    }
    request["body"] = `{${[...members.values()].join(",")}}`
  }
  return request
}

const leaks =
  /node_modules|\bat \w+ \(|\.ts:\d|SELECT |INSERT |UPDATE |relation "|syntax error|SqlError|SchemaError|ParseError|postgres|ECONN|undefined is not|Cannot read/i

/** They go to a shop before they answer, or read all the books, and take as long as that takes. */
const patient = new Set(["scans.scan", "shopping_tests.run", "administration.doctor"])

const complaint = ({ headers, json, status }: Answer, body: string): string | undefined => {
  if (status >= 500) return `answered ${status}`
  if (headers["x-request-id"] === undefined || headers["x-environment"] !== "test")
    return "has no X-Request-Id or X-Environment"
  if (status < 400) return undefined
  if (!headers["content-type"]?.startsWith("application/problem+json")) return `is ${headers["content-type"]}`
  if (!/^[A-Z0-9_]+$/.test(json.code) || json.status !== status || typeof json.request_id !== "string")
    return `is no whole problem`
  // Facts about a thing that was asked for repeat what the caller called it.
  const detail = String(json.detail).replace(/ \(\w+: .*\)$/s, "")
  return leaks.test(JSON.stringify({ ...json, detail, details: undefined })) || body.length > 100_000
    ? "tells too much"
    : undefined
}

const told = (operation: Operation, request: Request, answer: Answer) =>
  `seed ${seed}: ${operation.method} ${operation.path} ${JSON.stringify(request).slice(0, 600)} -> ${answer.status} ${answer.body.slice(0, 600)}`

const timed = Effect.fnUntraced(function* (target: World, operation: Operation, request: Request) {
  const began = performance.now()
  const answer = yield* target.call(operation, request)
  return { answer, took: performance.now() - began }
})

/** A busy machine stands still now and then; what is slow by itself is slow every time. */
const isSlow = Effect.fnUntraced(function* (target: World, operation: Operation, request: Request, took: number) {
  const longest = patient.has(operation.id) ? 25_000 : 1_000
  let quickest = took
  for (let again = 0; again < 4 && quickest > longest; again++) {
    quickest = Math.min(quickest, (yield* timed(target, operation, request)).took)
  }
  return quickest > longest
})

const attack = Effect.fnUntraced(function* (target: World, operation: Operation, start: number) {
  const random = randomOf(start)
  const good = yield* target.bodyOf(operation)
  const statuses = new Map<number, number>()
  for (let run = 0; run < runs; run++) {
    const request = mutate(random, operation, good)
    const { answer, took } = yield* timed(target, operation, request)
    const slow = yield* isSlow(target, operation, request, took)
    const wrong = slow ? `took ${took} ms, and as long again` : complaint(answer, answer.body)
    if (wrong !== undefined) assert.fail(`${wrong}. ${told(operation, request, answer)}`)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
  }
  return statuses
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("nonsense", (it) => {
  for (const [index, operation] of operations.entries()) {
    it.effect(
      `sent to ${operation.id} is answered in a second, never as our fault, and gives nothing away (seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const statuses = yield* attack(yield* world, operation, seed + index)
          if (process.env["FUZZ_RUNS"] !== undefined) console.log(operation.id, Object.fromEntries(statuses))
        })
    )
  }
})
