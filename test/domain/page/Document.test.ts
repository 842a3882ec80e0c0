import { assert, describe, it } from "vitest"
import { letGo, openingOf, textOf } from "#domain/page/Document.ts"

const document = (text: string) => ({ bytes: new TextEncoder().encode(text), charset: "utf-8" })

describe("a document", () => {
  it("is read in its charset", () => {
    assert.strictEqual(textOf({ bytes: Uint8Array.of(0x80, 0x35), charset: "windows-1252" }), "€5")
  })

  it("has an opening of so many bytes", () => {
    assert.strictEqual(openingOf(document("one two"), 3), "one")
    assert.strictEqual(openingOf(document("one"), 100), "one")
  })

  it("that was let go, once or twice, is empty", () => {
    const gone = document("one two")
    const { buffer } = gone.bytes
    letGo(gone)
    letGo(gone)
    assert.deepStrictEqual([textOf(gone), openingOf(gone, 3), buffer.byteLength], ["", "", 0])
  })

  it("that was let go but for its beginning is that, in a buffer of its own", () => {
    const gone = document("one two")
    const { buffer } = gone.bytes
    letGo(gone, 3)
    letGo(gone, 5)
    assert.deepStrictEqual([textOf(gone), gone.bytes.buffer.byteLength, buffer.byteLength], ["one", 3, 0])
  })
})
