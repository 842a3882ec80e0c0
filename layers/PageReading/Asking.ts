import { Effect } from "effect"
import { PageReading, PageUnread } from "#services/PageReading.ts"
import type { Reply, Task } from "./Task.ts"

/** A reader of documents over whoever performs its tasks. */
export const readerOver = (perform: (task: Task) => Effect.Effect<Reply, PageUnread>): PageReading["Service"] => {
  const read = <A>(task: Task, pick: (reply: Reply) => { readonly value: A } | undefined) =>
    Effect.flatMap(perform(task), (reply) => {
      const picked = pick(reply)
      return picked === undefined ? Effect.fail(new PageUnread({ reason: "Ended" })) : Effect.succeed(picked.value)
    })
  return PageReading.of({
    page: (html, { href }) =>
      read({ _tag: "Page", html, url: href }, (reply) => (reply._tag === "Page" ? { value: reply.facts } : undefined)),
    platform: (html, { headers, metas, setCookies }) =>
      read({ _tag: "Platform", html, metas, headers, setCookies }, (reply) =>
        reply._tag === "Platform" ? { value: reply.platform } : undefined
      ),
    sitemap: (text, platform) =>
      read({ _tag: "Sitemap", text, platform }, (reply) =>
        reply._tag === "Sitemap" ? { value: reply.sitemap } : undefined
      )
  })
}
