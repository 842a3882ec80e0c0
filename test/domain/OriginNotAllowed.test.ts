import { assert, describe, it } from "vitest"
import { OriginNotAllowed } from "#domain/OriginUrl.ts"

describe("an address that is not allowed", () => {
  for (const [field, reason, said] of [
    ["originUrl", "SchemeNotAllowed", "originUrl: must begin with https:// or http://"],
    ["url", "SchemeNotAllowed", "url: must begin with https://, unless the deployment lists its host and port"],
    ["webhookUrl", "PortNotAllowed", "webhookUrl: must be on port 443, unless the deployment lists its host and port"],
    ["webhookUrl", "OwnHost", "webhookUrl: leads back to this Turnpike"]
  ] as const) {
    it(`is told what it must be: ${field}, ${reason}`, () => {
      assert.strictEqual(new OriginNotAllowed({ field, reason }).message, said)
    })
  }
})
