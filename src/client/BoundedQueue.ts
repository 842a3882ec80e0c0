/** What one side puts and another takes, in order. Whoever puts waits while it is full. */
export interface BoundedQueue<Item> {
  /** Resolves when there is room for more; at once when nobody will take any more. */
  readonly put: (item: Item, weight: number) => Promise<void>
  readonly take: () => Promise<IteratorResult<Item, undefined>>
  /** Nothing more comes: what is there can still be taken, then the error, once. */
  readonly fail: (error: unknown) => void
  /** Nothing more comes, and nothing is taken. */
  readonly drop: () => void
}

/** Full when it holds this many items or this much weight: a stream in which what is light weighs as much as its place. */
export const boundedQueue = <Item>(mostItems: number, mostWeight: number): BoundedQueue<Item> => {
  const place = Math.ceil(mostWeight / mostItems)
  /** Those who wait for room. */
  const waiting: Array<() => void> = []
  const freed = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  let source: ReadableStreamDefaultController<() => Item> | undefined
  /** Of what is put next. */
  let size = 0
  const reader = new ReadableStream<() => Item>(
    {
      start: (controller) => {
        source = controller
      },
      pull: freed,
      cancel: freed
    },
    { highWaterMark: mostWeight, size: () => size }
  ).getReader()

  return {
    put: async (item, weight) => {
      size = Math.max(weight, place)
      source?.enqueue(() => item)
      if ((source?.desiredSize ?? 1) <= 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
    take: async () => {
      const { done, value } = await reader.read()
      return done ? { done, value: undefined } : { done, value: value() }
    },
    fail: (error) => {
      size = 0
      source?.enqueue(() => {
        throw error
      })
      source?.close()
      source = undefined
    },
    drop: () => {
      source = undefined
      void reader.cancel()
    }
  }
}
