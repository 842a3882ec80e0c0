// What a stranger's server answers to JSON-RPC over HTTP: as JSON, or as a stream of events of which one is the answer.
import { readBoundedJson } from "./BoundedJson.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export type RpcRead =
  | { readonly _tag: "Result"; readonly result: Fields }
  | { readonly _tag: "RpcError"; readonly code: number; readonly message: string; readonly data: Fields | undefined }
  | { readonly _tag: "NotRpc"; readonly why: string }

const notRpc = (why: string): RpcRead => ({ _tag: "NotRpc", why })
/** Events looked at before the answer has to have come. */
const maxEvents = 50

/** The data of the events of a stream, in order. */
const eventsOf = (text: string): ReadonlyArray<string> =>
  text
    .split(/\r\n\r\n|\n\n|\r\r/, maxEvents)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .flatMap((line) => (line.startsWith("data:") ? [line.slice(5).replace(/^ /, "")] : []))
        .join("\n")
    )
    .filter((data) => data !== "")

/** Reads the answer to the request of this id. An error may come without an id, as a server answers what it could not read. */
export const readRpcAnswer = (contentType: string, text: string, id: number): RpcRead => {
  if (!/^text\/event-stream\b/i.test(contentType)) return readMessage(text, id)
  const read = eventsOf(text).map((data) => readMessage(data, id))
  return read.find(({ _tag }) => _tag !== "NotRpc") ?? notRpc("a stream of events without the answer")
}

const readMessage = (text: string, id: number): RpcRead => {
  const read = readBoundedJson(text)
  if (read._tag === "NotJson") return notRpc(read.why)
  const message = asFields(read.value)
  if (message?.["jsonrpc"] !== "2.0") return notRpc("JSON that is no JSON-RPC 2.0")
  const error = asFields(message["error"])
  if (error !== undefined && (message["id"] === id || message["id"] === null || message["id"] === undefined)) {
    const { code, data, message: words } = error
    return {
      _tag: "RpcError",
      code: typeof code === "number" ? code : 0,
      message: typeof words === "string" ? words.slice(0, 300) : "",
      data: asFields(data)
    }
  }
  if (message["id"] !== id) return notRpc("a JSON-RPC message with another id")
  const result = asFields(message["result"])
  return result === undefined ? notRpc("JSON-RPC without a result") : { _tag: "Result", result }
}

/** Names of the tools of a `tools/list`; undefined when it is no such list. */
export const toolNames = (result: Fields): ReadonlyArray<string> | undefined => {
  const tools = result["tools"]
  if (!Array.isArray(tools)) return undefined
  return tools.slice(0, 200).flatMap((tool) => {
    const name = asFields(tool)?.["name"]
    return typeof name === "string" ? [name.slice(0, 100)] : []
  })
}

/** What a tool answered: structured, or else the JSON in its first text. */
export const toolResult = (result: Fields): Fields | undefined => {
  const structured = asFields(result["structuredContent"])
  if (structured !== undefined) return structured
  const [first]: ReadonlyArray<unknown> = Array.isArray(result["content"]) ? result["content"] : []
  const text = asFields(first)?.["text"]
  const read = typeof text === "string" ? readBoundedJson(text) : undefined
  if (read?._tag === "Json") return asFields(read.value)
  // Servers before the tools of MCP had results of their own answered with the object itself.
  return result["ucp"] === undefined ? undefined : result
}
