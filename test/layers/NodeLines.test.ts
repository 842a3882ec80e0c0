import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import * as Lines from "#layers/Node/Lines.ts"

const request = "POST /transfer HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"

it.live("what arrives behind an answer that ends its connection, before that is closed, is not carried out", () =>
  Effect.promise(async () => {
    let carriedOut = 0
    const { take } = Lines.make((_, __, response) => {
      carriedOut++
      response.shouldKeepAlive = false
      response.end()
      return false
    })
    let heard = 0
    const heardBoth = Promise.withResolvers<void>()
    const server = createServer((request, response) => {
      take("request", request, response)
      if (++heard === 2) heardBoth.resolve()
    }).listen(0, "127.0.0.1")
    // The moment between the end of an answer and the close of its connection, for as long as the test needs it.
    server.on("connection", (socket) => {
      socket.destroySoon = () => socket.end()
    })
    await once(server, "listening")
    const caller = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true })
    caller.write(request)
    caller.once("end", () => caller.write(request)).resume()
    await heardBoth.promise
    caller.destroy()
    server.close()
    assert.strictEqual(carriedOut, 1)
  })
)

interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly take: () => void
}

/** How often a connection is looked at for callers who take nothing, after this became of its only request. */
const looks = (became: (asked: Asked) => Promise<unknown>) =>
  Effect.promise(async () => {
    const { cutStalled, take } = Lines.make((_, __, response) => {
      response.end()
      return false
    })
    let looked = 0
    const done = Promise.withResolvers<unknown>()
    const server = createServer((request, response) => {
      done.resolve(became({ request, response, take: () => void take("request", request, response) }))
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    server.once("connection", (socket) => {
      Object.defineProperty(socket, "writableLength", { get: () => ++looked })
    })
    const caller = connect((server.address() as AddressInfo).port).resume()
    caller.write(request)
    await done.promise
    looked = 0
    cutStalled(0)
    caller.destroy()
    server.close()
    return looked
  })

it.live("a connection is looked at while something is to be answered on it, and forgotten with its close", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* looks(async ({ take }) => take()), 1)
    const closes = async ({ request, response, take }: Asked) => {
      take()
      await once(response, "close")
      // Were it remembered, it would be looked at for what is asked next.
      await once(request.socket.destroy(), "close")
      take()
    }
    assert.strictEqual(yield* looks(closes), 0)
    const isTakenAway = async ({ request, response, take }: Asked) => {
      take()
      response.shouldKeepAlive = false
      request.socket.removeAllListeners("close")
      await once(response, "close")
    }
    assert.strictEqual(yield* looks(isTakenAway), 0)
    const isClosed = async ({ request, take }: Asked) => {
      await once(request.socket.destroy(), "close")
      take()
    }
    assert.strictEqual(yield* looks(isClosed), 0)
  })
)

/** A server whose answers are the test's, and somebody who has sent it so many requests. */
const served = async (bytes: string, count: number) => {
  const answers: Array<ServerResponse> = []
  const lines = Lines.make((_, __, response) => answers.push(response) === 0)
  const all = Promise.withResolvers<void>()
  let heard = 0
  const server = createServer()
  for (const event of ["request", "checkContinue"]) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      lines.take(event, request, response)
      if (++heard === count) all.resolve()
    })
  }
  const connected = once(server, "connection")
  await once(server.listen(0, "127.0.0.1"), "listening")
  const caller = connect((server.address() as AddressInfo).port, "127.0.0.1")
  let read = ""
  caller.on("data", (chunk) => (read += chunk.toString())).on("error", () => {})
  caller.write(bytes)
  await all.promise
  const [socket] = (await connected) as [Socket]
  const [answer] = answers as [ServerResponse]
  const close = () => {
    caller.destroy()
    server.close()
  }
  return { answer, answers, caller, lines, read: () => read, socket, close }
}

for (const [name, finish] of [
  [
    "an answer that ends the connection",
    (answer: ServerResponse) => {
      answer.shouldKeepAlive = false
      answer.end()
    }
  ],
  ["an answer that is cut off", (answer: ServerResponse) => answer.destroy()],
  [
    "an answer after which the connection was ended",
    (answer: ServerResponse, socket: Socket) => {
      answer.end()
      socket.end()
    }
  ]
] as const) {
  it.live(`what waits behind ${name} is not carried out`, () =>
    Effect.promise(async () => {
      const { answer, answers, caller, close, socket } = await served(request + request, 2)
      const isClosed = once(caller, "close")
      finish(answer, socket)
      await isClosed
      assert.lengthOf(answers, 1)
      close()
    })
  )
}

const asking = (fields: string) =>
  `POST /transfer HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\nexpect: 100-continue\r\n${fields}\r\n`

for (const [name, fields, isStopping, told] of [
  ["stays", "", false, "keep-alive"],
  ["whose caller wants no other answer does not", "connection: close\r\n", false, "close"],
  ["of a server that stops does not", "", true, "close"]
] as const) {
  it.live(`a connection ${name}, after an answer to who was told to go on with the body`, () =>
    Effect.promise(async () => {
      const { answer, caller, close, lines, read } = await served(asking(fields), 1)
      if (isStopping) lines.end()
      answer.writeContinue()
      caller.write("1")
      answer.end("done")
      while (!read().includes("done")) await once(caller, "data")
      assert.strictEqual(/^connection: (.*)\r$/im.exec(read())?.[1], told)
      close()
    })
  )
}

it.live("somebody is not slow who takes a whole piece between any two looks", () =>
  Effect.promise(async () => {
    const { close, lines, socket } = await served(request, 1)
    let taken = 0
    // As Deno has it, which does not say how much of a piece is left.
    Object.defineProperties(socket, {
      writableLength: { get: () => 1_000 },
      bytesWritten: { get: () => 1_000 + ++taken },
      _handle: { get: () => undefined }
    })
    for (let minute = 0; minute < 10; minute++) lines.cutStalled(minute * 60_000)
    assert.isFalse(socket.destroyed)
    close()
  })
)
