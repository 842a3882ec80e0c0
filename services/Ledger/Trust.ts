/** How far the books as this process remembers them are believed. A matter of speed only: the database decides what is true. */
export const make = () => {
  /** For how many groups more the log counts as one that others write to as well: those who do need not come each time. */
  let shared = 0
  /** For how many groups more we look everything up: the more often memory did not do, the longer. */
  let doubts = 0
  let doubtsNext = 1

  return {
    isShared: () => shared > 0,
    isTrusted: () => doubts === 0,
    /** Memory did. */
    confirm: () => {
      doubtsNext = 1
    },
    doubt: () => {
      doubts = doubtsNext
      doubtsNext = Math.min(2 * doubtsNext, 64)
    },
    /** A group more, without asking memory. */
    looked: () => {
      if (doubts > 0) doubts--
    },
    /** A group more, before which others had written to the log, or nobody. */
    saw: (others: boolean) => {
      shared = others ? 16 : Math.max(shared - 1, 0)
    }
  }
}
