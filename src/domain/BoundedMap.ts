/**
 * Drops what has been in a map for longest, once it holds more than `capacity`: a sixteenth at a time, because whoever looks for the
 * first entry walks over the places of all that were dropped before it.
 */
export const dropOldest = <Key>(map: Map<Key, unknown>, capacity: number): void => {
  if (map.size <= capacity) return
  let surplus = map.size - capacity + Math.floor(capacity / 16)
  for (const key of map.keys()) {
    if (surplus-- <= 0) return
    map.delete(key)
  }
}
