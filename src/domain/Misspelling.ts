/** Letters alone: how words are joined is what is mixed up most often. */
const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "")

/** Whether one letter more, less or other, or two that changed places, make one of the other. */
const isOneSlip = (one: string, other: string): boolean => {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one]
  if (long.length - short.length > 1) return false
  let start = 0
  while (start < short.length && short[start] === long[start]) start++
  let end = 0
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++
  const [left, right] = [short.slice(start, short.length - end), long.slice(start, long.length - end)]
  return right.length <= 1 || (right.length === 2 && left === `${right[1]}${right[0]}`)
}

/** The name among these that was meant by one that is none of them; undefined when it looks like none. */
export const meantBy = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const letters = lettersOf(name)
  // Of two or three letters every other word is one slip away.
  if (letters.length < 4) return undefined
  return known.find((one) => lettersOf(one) === letters) ?? known.find((one) => isOneSlip(lettersOf(one), letters))
}
