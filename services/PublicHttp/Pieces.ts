/** Of a peer that drips a byte at a time not so many small buffers are kept. */
const most = 256

/** A piece as it may be kept: where it is a small part of what was read at once, all of that would be kept with it. */
const own = (piece: Buffer): Buffer => (piece.byteLength * 8 < piece.buffer.byteLength ? Buffer.from(piece) : piece)

/** Adds a piece that arrived to those before it. What they take is in proportion to their bytes, however the peer cuts them. */
export const keep = (pieces: Array<Buffer>, piece: Buffer): void => {
  pieces.push(own(piece))
  if (pieces.length < most) return
  // Like goes to like, so that each byte is copied a few times and not with every so many that come after it.
  let [first, size] = [pieces.length - 1, piece.byteLength]
  for (let before = pieces[first - 1]; before !== undefined && before.byteLength <= size; before = pieces[first - 1]) {
    first--
    size += before.byteLength
  }
  if (first < pieces.length - 1) pieces.push(Buffer.concat(pieces.splice(first)))
}

/** All of them in one, which is the only one there is, or a copy; undefined where there is none. */
export const joined = (pieces: ReadonlyArray<Buffer>): Buffer | undefined =>
  pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
