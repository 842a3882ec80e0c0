/** A stretch of places and how many scans of it match. */
export interface Stretch {
  readonly first: bigint
  readonly last: bigint
  readonly matching: number
}

/** What is known before anything is counted: the last place, the last that was counted in a block, and the last stale one with its block. */
export interface Edges {
  readonly head: bigint
  readonly sealed: bigint
  readonly stale: bigint
  readonly block: { readonly first: bigint; readonly last: bigint } | null
}

export interface Range {
  readonly first: bigint
  readonly last: bigint
}

/** The places that a status has: those that ended are stale up to a place, whatever came of them. */
export const placesOf = (status: string | undefined, { head, stale }: Edges): Range => {
  if (status === "pending" || status === "scanning") return { first: 1n, last: 0n }
  if (status === "stale") return { first: 1n, last: stale }
  return { first: status === "completed" ? stale + 1n : 1n, last: head }
}

/** Which places within the range no whole block has, so that their scans have to be counted: two stretches at most. */
export const uncounted = ({ first, last }: Range, { block, sealed }: Edges): ReadonlyArray<Range> => {
  const cut: Array<Range> = []
  if (block !== null && first > block.first && first <= block.last) cut.push({ first, last: min(last, block.last) })
  else if (block !== null && last >= block.first && last < block.last)
    cut.push({ first: max(first, block.first), last })
  cut.push({ first: max(first, sealed + 1n), last })
  return cut.filter((range) => range.first <= range.last)
}

export const sum = (all: ReadonlyArray<Stretch>): number => all.reduce((total, one) => total + one.matching, 0)

/** Where a page is: its places are between these two, behind so many others that match. */
export interface Spot extends Range {
  readonly skip: number
}

/** Where the scans from `offset` on are, of stretches from the newest to the oldest; nothing behind the end. */
export const spotOf = (stretches: ReadonlyArray<Stretch>, offset: number, limit: number): Spot | undefined => {
  let passed = 0
  let begin: { readonly last: bigint; readonly skip: number } | undefined
  let first = 0n
  for (const stretch of stretches) {
    if (stretch.matching === 0) continue
    if (begin === undefined && passed + stretch.matching > offset) begin = { last: stretch.last, skip: offset - passed }
    passed += stretch.matching
    first = stretch.first
    if (begin !== undefined && passed >= offset + limit) break
  }
  return begin && { ...begin, first }
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a > b ? a : b)
