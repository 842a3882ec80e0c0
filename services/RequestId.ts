import type { IncomingMessage } from "node:http"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "./NewId.ts"

const sane = /^[!-~]{1,128}$/

/** `req_` and the TypeID of a fresh UUIDv7. */
export const fresh = (): string => toTypeId("req", newUuid())

/** The caller's own request id if it is sane, or else a fresh one. */
export const of = (request: IncomingMessage): string => {
  const sent = request.headers["x-request-id"]
  return typeof sent === "string" && sane.test(sent) ? sent : fresh()
}
