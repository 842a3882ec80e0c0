/** Of a peer that drips a byte at a time not so many small buffers are kept. */
const most = 256

/** A piece as it may be kept: where it is a small part of what was read at once, all of that would be kept with it. */
const own = (piece: Buffer): Buffer => (piece.byteLength * 8 < piece.buffer.byteLength ? Buffer.from(piece) : piece)

/** Adds a piece that arrived to those before it. What they take is in proportion to their bytes, however the peer cuts them. */
export const keep = (pieces: Array<Buffer>, piece: Buffer): void => {
  pieces.push(own(piece))
  if (pieces.length >= most) pieces.splice(0, most, Buffer.concat(pieces))
}

/** All of them in one, which is the only one there is, or a copy; undefined where there is none. */
export const joined = (pieces: ReadonlyArray<Buffer>): Buffer | undefined =>
  pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
