import { expect, test } from 'vitest'
import { wholeMessages } from './whole-messages.ts'

const message = (letter: string, body: string): Buffer => {
  const bytes = Buffer.alloc(5 + body.length)
  bytes.write(letter)
  bytes.writeUInt32BE(4 + body.length, 1)
  bytes.write(body, 5)
  return bytes
}
const messages = [
  message('Z', 'I'),
  message('D', 'a row'),
  message('N', ''),
  message('D', 'x'.repeat(40)),
  message('C', '1'),
]
const all = Buffer.concat(messages)

/** Checks whether the bytes start and end at message boundaries. */
function isWhole(bytes: Buffer): boolean {
  let at = 0
  while (at + 5 <= bytes.length) at += 1 + bytes.readUInt32BE(at + 1)
  return at === bytes.length
}

function handedOn(chunks: Buffer[]): Buffer[] {
  const seen: Buffer[] = []
  const read = wholeMessages((bytes) => seen.push(Buffer.from(bytes)))
  for (const chunk of chunks) read(chunk)
  return seen
}

test('whole messages are passed on completely and in order, for every position where the stream is split', () => {
  for (let first = 0; first <= all.length; first += 1) {
    for (let second = first; second <= all.length; second += 1) {
      const seen = handedOn([all.subarray(0, first), all.subarray(first, second), all.subarray(second)])
      expect(Buffer.concat(seen).equals(all) && seen.every(isWhole), `cut at ${first} and ${second}`).toBe(true)
    }
  }
})

test('bytes that arrive one by one are assembled into whole messages', () => {
  const seen = handedOn(Array.from(all, (byte) => Buffer.from([byte])))
  expect(seen.map(String)).toEqual(messages.map(String))
})

test('complete messages are passed on at once, and a chunk of whole messages is not copied', () => {
  const seen: Buffer[] = []
  const read = wholeMessages((bytes) => seen.push(bytes))
  read(all)
  expect(seen[0]).toBe(all)
  read(Buffer.concat([messages[0]!, messages[1]!.subarray(0, 7)]))
  expect(seen[1]!.equals(messages[0]!)).toBe(true)
  read(messages[1]!.subarray(7))
  expect(seen[2]!.equals(messages[1]!)).toBe(true)
})
