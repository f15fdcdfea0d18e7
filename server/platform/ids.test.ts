import { expect, test } from 'vitest'
import { bytesOfUuid, fromWire, newId, timeOfId, toWire, uuidOfBytes } from './ids.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('ids are UUIDv7, strictly increasing and different, even many within a millisecond and after a step back', () => {
  const now = Date.now() + 60_000
  // 4,096 ids use up the counter of a millisecond, and 512 of them the random bytes of a page.
  const ids = Array.from({ length: 10_000 }, (_, n) => newId(n === 9_999 ? now - 5_000 : now))
  for (const id of ids) expect(id).toMatch(UUID_V7)
  expect(ids).toEqual([...new Set(ids)].sort())
  expect(timeOfId(ids[0] as string)).toBe(now)
  const later = newId(now + 60_000)
  expect(timeOfId(later)).toBe(now + 60_000)
  expect(new Set(ids.map((id) => id.slice(19))).size).toBe(ids.length)
})

// The last pair is an example of the TypeID specification.
test.each([
  ['00000000-0000-0000-0000-000000000000', '00000000000000000000000000'],
  ['00000000-0000-0000-0000-00000000000a', '0000000000000000000000000a'],
  ['ffffffff-ffff-ffff-ffff-ffffffffffff', '7zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['01890a5d-ac96-774b-bcce-b302099a8057', '01h455vb4pex5vsknk084sn02q'],
])('%s is %s on the wire, and is read back', (uuid, text) => {
  expect(toWire('exe', uuid)).toBe(`exe_${text}`)
  expect(toWire('exe', uuid.toUpperCase())).toBe(`exe_${text}`)
  expect(fromWire('exe', `exe_${text}`)).toBe(uuid)
  expect(uuidOfBytes(bytesOfUuid(uuid))).toBe(uuid)
})
