import { asFields, type Fields } from "./X402Payload.ts"

/**
 * Something wrong with a stranger's document: where, and what. `fatal`: a client that follows the protocol refuses the document or has
 * nothing to call. Otherwise clients take it although the protocol asks for more.
 */
export interface Problem {
  readonly path: string
  readonly what: string
  readonly isFatal: boolean
}

/** As one line of a report. */
export const problemLine = ({ path, what }: Problem): string => (path === "" ? what : `${path}: ${what}`)

/** How many are kept; a document that is wrong everywhere needs no longer list. */
const maxProblems = 100
/** How many members of a list or map are looked at. */
const maxMembers = 100

/** The problems of one document while it is read. */
export class Problems {
  readonly #found: Array<Problem> = []

  fatal(path: string, what: string): undefined {
    this.#add({ path, what, isFatal: true })
  }

  note(path: string, what: string): undefined {
    this.#add({ path, what, isFatal: false })
  }

  get found(): ReadonlyArray<Problem> {
    return this.#found
  }

  /** A member that has to be a text; `undefined` and a fatal problem when it is not. */
  text(of: Fields, path: string, name: string): string | undefined {
    const value = of[name]
    if (value === undefined) return this.fatal(within(path, name), "is missing")
    if (typeof value !== "string" || value === "") return this.fatal(within(path, name), "must be a text")
    return value
  }

  /** A member that may be missing, but has to be a text when it is there. */
  maybeText(of: Fields, path: string, name: string): string | undefined {
    return of[name] === undefined ? undefined : this.text(of, path, name)
  }

  object(of: Fields, path: string, name: string): Fields | undefined {
    const value = of[name]
    if (value === undefined) return this.fatal(within(path, name), "is missing")
    return asFields(value) ?? this.fatal(within(path, name), "must be an object")
  }

  maybeObject(of: Fields, path: string, name: string): Fields | undefined {
    return of[name] === undefined ? undefined : this.object(of, path, name)
  }

  list(of: Fields, path: string, name: string): ReadonlyArray<unknown> | undefined {
    const value = of[name]
    if (value === undefined) return this.fatal(within(path, name), "is missing")
    if (!Array.isArray(value)) return this.fatal(within(path, name), "must be a list")
    return value.slice(0, maxMembers)
  }

  maybeList(of: Fields, path: string, name: string): ReadonlyArray<unknown> | undefined {
    return of[name] === undefined ? undefined : this.list(of, path, name)
  }

  #add(problem: Problem): void {
    if (this.#found.length < maxProblems) this.#found.push(problem)
  }
}

/** The path of a member: `ucp.services`, `services["dev.ucp.shopping"]`, `keys[0]`. */
export const within = (path: string, name: string | number): string => {
  if (typeof name === "number") return `${path}[${name}]`
  const spelled = name.length > 80 ? `${name.slice(0, 80)}…` : name
  if (!/^\w+$/.test(spelled)) return `${path}[${JSON.stringify(spelled)}]`
  return path === "" ? spelled : `${path}.${spelled}`
}

/** The members of a map that are looked at. */
export const membersOf = (map: Fields): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(map).slice(0, maxMembers)

/** An absolute address, or undefined. */
export const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined)
