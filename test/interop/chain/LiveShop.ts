import { openOrigin } from "../x402/World.ts"

/** An origin that numbers what it sells, and does what the query of a request asks for first. */
export const open = async () => {
  /** What happens before the answer, by the word in the query. */
  const before = new Map<string, () => Promise<unknown>>()
  let resume = Promise.withResolvers<void>()
  const origin = await openOrigin(async ({ url }, response) => {
    const [, word = ""] = url.split("?")
    await before.get(word)?.()
    if (word === "stream") {
      response.writeHead(200, { "Content-Type": "text/event-stream" })
      response.write("data: one\n\n")
      resume.promise.then(() => response.end("data: two\n\n"))
      return
    }
    const headers = word === "metered" ? { "Settlement-Overrides": `{"amount":"2500"}` } : undefined
    const body = Buffer.from(JSON.stringify({ sold: origin.hits.length }))
    response.writeHead(word === "broken" ? 500 : 200, { ...headers, "Content-Length": body.length })
    response.end(body)
  })
  return {
    origin,
    before,
    /** The events of the stream go on when the first was seen. */
    events: async (response: Response) => {
      let text = ""
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString()
        resume.resolve()
      }
      resume = Promise.withResolvers()
      return text
    },
    close: () => {
      resume.resolve()
      origin.close()
    }
  }
}
export type Shop = Awaited<ReturnType<typeof open>>
