/** Longest text of a record, in characters: as long as an address may be. What is longer came from a site. */
const longest = 4096

/** What a site says may hold characters that the database cannot keep: they become the mark of what could not be read. It may also have any length. */
export const storable = (value: unknown): unknown => {
  if (typeof value === "string") return value.slice(0, longest).replaceAll("\u0000", "\ufffd").toWellFormed()
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [storable(name), storable(one)]))
}
