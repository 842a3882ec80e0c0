import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { eventFrames, type Frame } from "#client/EventFrames.ts"
import { cpuTime } from "../domain/CpuTime.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

/** What a stream holds that arrives in these pieces. */
const read = (...pieces: ReadonlyArray<Uint8Array>): ReadonlyArray<Frame> => {
  const frames = eventFrames()
  return pieces.flatMap(frames.push)
}

const message = (data: string, more: Partial<Frame> = {}): Frame => ({ id: undefined, event: "message", data, ...more })

describe("a stream of events", () => {
  const cases: Record<string, readonly [text: string, ...frames: ReadonlyArray<Frame>]> = {
    "with LF": ["data: a\n\ndata: b\n\n", message("a"), message("b")],
    "with CR": ["data: a\r\rdata: b\r\r", message("a"), message("b")],
    "with CRLF": ["data: a\r\n\r\ndata: b\r\n\r\n", message("a"), message("b")],
    "with all of them": ["data: a\r\n\ndata: b\r\rdata: c\n\r\n", message("a"), message("b"), message("c")],
    "with the byte order mark": ["\uFEFFdata: a\n\n", message("a")],
    "with a second byte order mark, which is a part of the name": ["\uFEFF\uFEFFdata: a\n\n"],
    "with data of several lines": ["data: a\ndata:\ndata: b\n\n", message("a\n\nb")],
    "with data of several lines that end with CRLF": [
      "data: a\r\nid: 1\r\ndata: b\r\n\r\n",
      message("a\nb", { id: "1" })
    ],
    "with one space taken after the colon": ["data:  a \n\n", message(" a ")],
    "without a space": ["data:a\nevent:e\nid:1\n\n", message("a", { event: "e", id: "1" })],
    "with a field and no colon": ["data\n\n", message("")],
    "with empty data": ["data:\n\n", message("")],
    "with no data": ["event: e\nid: 1\n\ndata: a\n\n", message("a")],
    "with comments": [": hello\n:\ndata: a\n: within\ndata: b\n\n:\n\n", message("a\nb")],
    "with fields that nobody knows": ["Data: x\n data: x\nfoo: bar\ndata: a\n\n", message("a")],
    "with a colon in the data": ["data: a: b\n\n", message("a: b")],
    "with an id that has a NUL": ["id: 1\0\ndata: a\n\n", message("a")],
    "with an empty id": ["id: 1\ndata: a\n\nid\ndata: b\n\n", message("a", { id: "1" }), message("b")],
    "with the last of two names": ["event: a\nevent: b\ndata: a\n\n", message("a", { event: "b" })],
    "with line ends of other alphabets, which are none": ["data: a\u2028b\u0085c\n\n", message("a\u2028b\u0085c")],
    "that ends within an event": ["data: a\n\ndata: b\n", message("a")]
  }
  for (const [name, [text, ...frames]] of Object.entries(cases)) {
    it(`is read ${name}`, () => {
      assert.deepStrictEqual(read(bytes(text)), frames)
      assert.deepStrictEqual(read(...Array.from(bytes(text), (byte) => Uint8Array.of(byte))), frames)
    })
  }

  it("is read the same however it is cut into pieces", () => {
    const piece = fc.constantFrom(
      "\r",
      "\n",
      "\r\n",
      "data",
      ": ",
      ":",
      "id: 7",
      "event: e",
      "Zoë",
      "🛣",
      "\uFEFF",
      "retry: 5"
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(200), { maxLength: 10 }), (parts, cuts) => {
        const whole = bytes(parts.join(""))
        const places = [0, ...cuts.filter((cut) => cut < whole.length).sort((a, b) => a - b), whole.length]
        const pieces = places.slice(1).map((end, index) => whole.subarray(places[index], end))
        assert.deepStrictEqual(read(...pieces), read(whole))
      }),
      { numRuns: 500 }
    )
  })

  it("may say how long to wait before connecting again, in digits", () => {
    const frames = eventFrames()
    frames.push(bytes("retry: soon\nretry: -1\nretry: 1e3\nretry:\n\n"))
    assert.isUndefined(frames.retry())
    frames.push(bytes("retry: 2500\n"))
    assert.strictEqual(frames.retry(), 2500)
  })

  it("with bytes that are no text is read all the same", () => {
    assert.deepStrictEqual(read(Uint8Array.of(...bytes("data: "), 0xff, ...bytes("\n\n"))), [message("\uFFFD")])
  })

  it("is read in a time that grows with its length, and no faster", () => {
    const frames = eventFrames()
    const start = cpuTime()
    const chunk = new Uint8Array(16).fill(0x61)
    frames.push(bytes("data: "))
    for (let sent = 0; sent < 2_000_000; sent += chunk.length) frames.push(chunk)
    assert.lengthOf(frames.push(bytes("\n\n"))[0]?.data ?? "", 2_000_000)
    assert.isBelow(cpuTime() - start, 5_000)
  })

  for (const line of ["a".repeat(1_000_000), `data: ${"a".repeat(1_000_000)}\n`]) {
    it(`without an end is given up: ${line.slice(0, 8)}`, () => {
      const frames = eventFrames()
      assert.throws(() => {
        for (let sent = 0; sent < 20; sent++) frames.push(bytes(line))
      }, RangeError)
    })
  }

  it("may bring more than any one event may have", () => {
    const event = bytes(`data: ${"a".repeat(9 * 1024 * 1024)}\n\n`)
    assert.lengthOf(read(event, event), 2)
  })
})
