import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { splitIntoPieces } from './upload.ts'

test('a block is passed on completely in pieces, with a turn of the event loop between pieces', async () => {
  const block = Buffer.alloc(20_000, 'abc')
  const pieces = splitIntoPieces()
  const sizes: number[] = []
  const turns: number[] = []
  pieces.on('data', (piece: Buffer) => {
    sizes.push(piece.length)
    setImmediate(() => turns.push(sizes.length))
  })
  const whole = buffer(pieces)
  pieces.end(block)
  expect(Buffer.compare(await whole, block)).toBe(0)
  expect(sizes).toEqual([4096, 4096, 4096, 4096, 3616])
  expect(turns[0]).toBeLessThan(sizes.length)
})
