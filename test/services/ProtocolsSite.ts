import type { IncomingMessage, ServerResponse } from "node:http"
import { readPage } from "../../src/domain/page/Page.ts"
import type { SiteAnswer } from "#services/SiteVisits.ts"
import { open } from "../shops/Fixture.ts"

export type Reply = object | string | readonly [status: number, body: object | string, headers?: Record<string, string>]
export type Page = Reply | ((base: string, body: string, request: IncomingMessage) => Reply)

const write = (response: ServerResponse, reply: Reply) => {
  const [status, body, headers]: readonly [number, object | string, Record<string, string>?] = Array.isArray(reply)
    ? [reply[0], reply[1], reply[2]]
    : [200, reply as object | string]
  const type = typeof body === "string" ? "text/html" : "application/json"
  response.writeHead(status, { "content-type": type, ...headers })
  response.end(typeof body === "string" ? body : JSON.stringify(body))
}

/** A site of some documents; everything else is 404. */
export const site = (pages: Readonly<Record<string, Page>>) =>
  open(async (request, response, base) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk)
    const path = new URL(request.url ?? "/", base).pathname
    const page = pages[path] ?? pages["*"] ?? [404, "nothing here"]
    write(response, typeof page === "function" ? page(base, Buffer.concat(chunks).toString(), request) : page)
  })

export const rpc = (body: string, result: object) => ({ jsonrpc: "2.0", id: JSON.parse(body).id, result })
export const rpcError = (body: string, code: number) => ({
  jsonrpc: "2.0",
  id: JSON.parse(body).id,
  error: { code, message: "no" }
})

/** A home page as the engine hands it over. */
export const home = (domain: string, html: string, headers: ReadonlyArray<readonly [string, string]> = []) => {
  const answer: SiteAnswer = {
    _tag: "Answered",
    url: new URL(`http://${domain}/`),
    status: 200,
    headers: new Map(headers),
    setCookies: [],
    contentType: "text/html",
    document: { bytes: new TextEncoder().encode(html), charset: "utf-8" },
    text: html,
    bytes: html.length,
    isTruncated: false,
    redirects: [],
    ms: 1,
    httpVersion: "HTTP/1.1",
    challenge: undefined
  }
  return { answer, facts: readPage(html, answer.url) }
}
export const plain = "<!doctype html><title>Shop</title><h1>Shop</h1>"
