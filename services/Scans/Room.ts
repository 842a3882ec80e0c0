/**
 * Room for so many, of which one owner has no more than a share: who asks for everything at once leaves some to others. An owner who does
 * not get in does not leave.
 */
export const make = (places: number, share: number) => {
  const each = Math.ceil(places * share)
  const within = new Map<string, number>()
  let all = 0
  return {
    enter: (owner: string): boolean => {
      const own = within.get(owner) ?? 0
      if (all >= places || own >= each) return false
      all++
      within.set(owner, own + 1)
      return true
    },
    leave: (owner: string): void => {
      const own = within.get(owner) ?? 0
      all--
      if (own > 1) within.set(owner, own - 1)
      else within.delete(owner)
    }
  }
}
