const count = { type: "integer", minimum: 0 } as const

/** Headers of answers that callers act on, under the names by which the description refers to them. */
export const responseHeaders = {
  "X-Request-Id": { schema: { type: "string" }, description: "The request, as support and logs know it" },
  "RateLimit-Limit": {
    schema: count,
    description: "Requests a minute; absent where they are not limited. `X-RateLimit-Limit` says the same"
  },
  "RateLimit-Remaining": {
    schema: count,
    description: "How many of them are left. `X-RateLimit-Remaining` says the same"
  },
  "RateLimit-Reset": { schema: count, description: "Seconds until all are back. `X-RateLimit-Reset` says the same" },
  "Retry-After": { schema: count, description: "Seconds after which to try again, where that is known" },
  "Idempotency-Replayed": {
    schema: { type: "string", enum: ["true"] },
    description: "Only on the answer of an earlier request with this idempotency key"
  },
  "X-Credits-Remaining": { schema: count, description: "Scanner credits left; absent where a call was bought" }
} as const

type Name = keyof typeof responseHeaders

interface Operation {
  readonly operationId: string
  readonly parameters?: ReadonlyArray<{ readonly name: string }>
  readonly responses: Record<string, { readonly headers?: object }>
}

const limits: ReadonlyArray<Name> = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
const billed = ["scans.scan", "shopping_tests.run", "scan_batches.create", "scan_batches.cancel"]

const carried = ({ operationId, parameters = [], responses }: Operation, status: string): ReadonlyArray<Name> => {
  const isLimited = "429" in responses
  if (status === "429") return ["Retry-After", ...limits]
  if (status === "503") return isLimited ? ["Retry-After"] : []
  if (!status.startsWith("2")) return []
  return [
    "X-Request-Id",
    ...(isLimited ? limits : []),
    ...(parameters.some(({ name }) => name === "idempotency-key") ? (["Idempotency-Replayed"] as const) : []),
    ...(billed.includes(operationId) ? (["X-Credits-Remaining"] as const) : [])
  ]
}

/** Says of every answer which headers it has for programs to act on. */
export const headed = (paths: Record<string, Record<string, Operation>>) => {
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const [status, response] of Object.entries(operation.responses)) {
      const names = carried(operation, status)
      if (names.length === 0) continue
      Object.assign(response, {
        headers: {
          ...response.headers,
          ...Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
        }
      })
    }
  }
}
