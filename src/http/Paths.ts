import { Context, Layer } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "#api/Api.ts"

/** Every path there is, to tell a wrong method from a wrong path. Reads nothing at run time but the table. */
export class Paths extends Context.Service<
  Paths,
  {
    /** A path outside the contract; `pattern` may end in a star. */
    add(method: string, pattern: string): void
    /** The methods this path takes; empty when there is no such path. A path that is named in full is none with an id of that name. */
    methodsOf(path: string): ReadonlyArray<string>
    /** Whether the router is to be asked: false when the path is named in full and takes no such method. */
    mayTake(method: string, path: string): boolean
  }
>()("turnpike/http/Paths") {
  static readonly layer = Layer.sync(Paths, () => {
    const table = new Map<string, { readonly matches: RegExp; readonly methods: Set<string> }>()
    const add = (method: string, pattern: string) => {
      let entry = table.get(pattern)
      if (entry === undefined) {
        entry = { matches: toRegExp(pattern), methods: new Set(["OPTIONS"]) }
        table.set(pattern, entry)
      }
      entry.methods.add(method)
      if (method === "GET") entry.methods.add("HEAD")
    }
    HttpApi.reflect(Api, {
      onGroup: () => undefined,
      onEndpoint: ({ endpoint }) => add(endpoint.method, endpoint.path)
    })
    const named = (path: string) => {
      const name = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
      return hasBlank.test(name) ? undefined : table.get(name)
    }
    return Paths.of({
      add,
      mayTake: (method, path) => named(path)?.methods.has(method) ?? true,
      methodsOf: (path) => {
        const exact = named(path)
        if (exact !== undefined) return [...exact.methods].sort()
        const methods = [...table.values()]
          .filter(({ matches }) => matches.test(path))
          .flatMap((entry) => [...entry.methods])
        return [...new Set(methods)].sort()
      }
    })
  })
}

/** What makes a pattern stand for several paths. */
const hasBlank = /[:*]/

const toRegExp = (pattern: string): RegExp => {
  const source = pattern
    .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
    .replace(/:[A-Za-z_]+/g, "[^/]+")
    .replace(/\/\*$/, "(?:/.*)?")
  return new RegExp(`^${source}/?$`)
}
