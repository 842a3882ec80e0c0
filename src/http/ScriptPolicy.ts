import { createHash } from "node:crypto"

/** Scripts of a page may run when they are in the page, and no other: their hashes are the policy. */
export const policyOf = (html: string): string => {
  const hashes = [...html.matchAll(/<script(?![^>]*(?:type=|src=))[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
  )
  const scripts = hashes.length === 0 ? "'none'" : hashes.join(" ")
  return (
    `default-src 'none'; script-src ${scripts}; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; ` +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
  )
}
