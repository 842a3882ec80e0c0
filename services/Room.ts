/**
 * Room for so much, of which one owner has no more than a share: who asks for everything at once leaves some to others. What is alone may
 * be larger than a share, or it would never be let in. Who does not get in does not leave.
 */
export const make = (places: number, share: number) => {
  const each = Math.ceil(places * share)
  const within = new Map<string, number>()
  let all = 0
  return {
    enter: (owner: string, more = 1): boolean => {
      const own = within.get(owner) ?? 0
      if (all + more > places || (own > 0 && own + more > each)) return false
      all += more
      within.set(owner, own + more)
      return true
    },
    leave: (owner: string, fewer = 1): void => {
      const own = within.get(owner) ?? 0
      all -= fewer
      if (own > fewer) within.set(owner, own - fewer)
      else within.delete(owner)
    }
  }
}
