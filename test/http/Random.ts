/** Numbers in [0, 1) that only the seed decides (mulberry32). */
export const randomOf = (start: number) => {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
export type Random = () => number
export const pick = <A>(random: Random, from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)]!
