import { type Deferred, deferred } from "./Time.ts"

/** What one side puts and another takes, in order. Whoever puts waits while it is full. */
export interface BoundedQueue<Item> {
  /** Resolves when there is room for more; at once when nobody will take any more. */
  readonly put: (item: Item, weight: number) => Promise<void>
  readonly take: () => Promise<IteratorResult<Item, undefined>>
  /** Nothing more comes: what is there can still be taken, then the error, once. */
  readonly end: (failure?: { readonly error: unknown }) => void
  /** Nothing more comes, and nothing is taken. */
  readonly drop: () => void
}

/** Full when it holds this many items or this much weight. */
export const boundedQueue = <Item>(mostItems: number, mostWeight: number): BoundedQueue<Item> => {
  type Result = IteratorResult<Item, undefined>
  const items: Array<{ readonly item: Item; readonly weight: number }> = []
  const takers: Array<Deferred<Result>> = []
  let weight = 0
  let room: Deferred<void> | undefined
  let ended = false
  let failure: { readonly error: unknown } | undefined

  const nothing = (): Promise<Result> => {
    const failed = failure
    failure = undefined
    return failed ? Promise.reject(failed.error) : Promise.resolve({ done: true, value: undefined })
  }
  const isFull = () => !ended && (items.length >= mostItems || weight >= mostWeight)
  const freed = () => {
    if (isFull()) return
    room?.resolve()
    room = undefined
  }

  const put = (item: Item, heavy: number): Promise<void> => {
    if (ended) return Promise.resolve()
    const taker = takers.shift()
    if (taker) taker.resolve({ done: false, value: item })
    else {
      items.push({ item, weight: heavy })
      weight += heavy
    }
    if (!isFull()) return Promise.resolve()
    room ??= deferred()
    return room.promise
  }

  const take = (): Promise<Result> => {
    const first = items.shift()
    if (!first && ended) return nothing()
    if (!first) {
      const taker = deferred<Result>()
      takers.push(taker)
      return taker.promise
    }
    weight -= first.weight
    freed()
    return Promise.resolve({ done: false, value: first.item })
  }

  const end = (reason?: { readonly error: unknown }): void => {
    if (ended) return
    ended = true
    failure = reason
    for (const taker of takers.splice(0)) nothing().then(taker.resolve, taker.reject)
    freed()
  }

  const drop = (): void => {
    items.length = 0
    weight = 0
    failure = undefined
    end()
    freed()
  }

  return { put, take, end, drop }
}
