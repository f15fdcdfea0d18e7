import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toProblem } from '#platform/http/answer'
import { startFakeS3 } from '#test/fakes/s3/server'
import { makeTemporaryDirectory } from '#test/harness/temporary'
import { makeDiskBlobs } from './disk.ts'
import type { Blobs } from './index.ts'
import { makeS3Blobs } from './s3.ts'

let directory: Awaited<ReturnType<typeof makeTemporaryDirectory>>
let s3: Awaited<ReturnType<typeof startFakeS3>>
const stores: Record<string, Blobs> = {}

beforeAll(async () => {
  directory = await makeTemporaryDirectory()
  s3 = await startFakeS3('blobs', 'AKID')
  stores.disk = makeDiskBlobs(directory.path)
  stores.s3 = makeS3Blobs({
    bucket: 'blobs',
    endpoint: s3.url,
    region: 'us-east-1',
    accessKeyId: 'AKID',
    secretAccessKey: 'secret',
  })
})
afterAll(async () => {
  await s3.stop()
  await directory.remove()
})

describe.each(['disk', 's3'])('a blob store on %s', (name) => {
  test('returns a stored blob byte for byte, and undefined for an unknown key', async () => {
    const blobs = stores[name]!
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, n) => n % 256))
    await blobs.put('runs/1/a', bytes)
    expect((await blobs.get('runs/1/a'))!.equals(bytes)).toBe(true)
    expect(await blobs.get('runs/1/none')).toBeUndefined()
    expect((await buffer((await blobs.stream('runs/1/a'))!)).equals(bytes)).toBe(true)
    expect(await blobs.stream('runs/1/none')).toBeUndefined()
    await blobs.put('runs/1/a', Buffer.from('again'))
    expect((await blobs.get('runs/1/a'))!.toString()).toBe('again')
  })

  test('removes one blob, or all blobs under a prefix and no others; removing an absent blob is not an error', async () => {
    const blobs = stores[name]!
    for (const key of ['runs/2/a', 'runs/2/b', 'runs/2/c/d', 'runs/2/e', 'runs/22/x'])
      await blobs.put(key, Buffer.from(key))
    await blobs.remove('runs/2/a')
    await blobs.remove('runs/2/a')
    expect(await blobs.get('runs/2/a')).toBeUndefined()
    await blobs.removeUnder('runs/2/')
    await blobs.removeUnder('runs/2/')
    expect([await blobs.get('runs/2/c/d'), await blobs.get('runs/2/e')]).toEqual([undefined, undefined])
    expect((await blobs.get('runs/22/x'))!.toString()).toBe('runs/22/x')
  })
})

describe.each(['disk', 's3'])('streams on %s', (name) => {
  const blocks = async function* (count: number, failAt = -1) {
    for (let n = 0; n < count; n += 1) {
      if (n === failAt) throw new Error('the sender is gone')
      yield Buffer.alloc(1 << 20, n)
    }
  }

  test('a blob larger than one part is returned unchanged, whole or as a byte range', async () => {
    const blobs = stores[name]!
    await blobs.putStream('files/large', blocks(19))
    const whole = await buffer((await blobs.stream('files/large'))!)
    expect([whole.length, whole[0], whole.at(-1)]).toEqual([19 << 20, 0, 18])
    const part = await buffer((await blobs.stream('files/large', { from: (1 << 20) - 1, to: 1 << 20 }))!)
    expect([...part]).toEqual([0, 1])
  })

  test('an upload that fails leaves nothing behind', async () => {
    const blobs = stores[name]!
    for (const failAt of [0, 3, 12])
      await expect(blobs.putStream('files/broken', blocks(15, failAt))).rejects.toThrow('the sender is gone')
    expect(await blobs.get('files/broken')).toBeUndefined()
  })
})

test('a request to a bucket that is briefly busy is retried', async () => {
  s3.failNext(2)
  await stores.s3!.put('busy', Buffer.from('kept'))
  expect(s3.keys()).toContain('busy')
})

test.each(['refuses connections', 'stays busy'])(
  'a store that %s is named as the storage, not as the database',
  async (fault) => {
    const gone = {
      bucket: 'blobs',
      endpoint: 'http://127.0.0.1:1',
      region: 'us-east-1',
      accessKeyId: 'AKID',
      secretAccessKey: 'secret',
    }
    if (fault === 'stays busy') s3.failNext(4)
    const store = fault === 'stays busy' ? stores.s3! : makeS3Blobs(gone)
    const error = await store.put('lost', Buffer.from('x')).catch((thrown: unknown) => thrown)
    expect(toProblem(error)).toMatchObject({
      code: 'unavailable',
      message: 'The storage of the service does not answer. Try again in a moment.',
      retryAfterS: 1,
    })
  },
)

test('a key cannot point outside the folder of the blobs', async () => {
  await expect(stores.disk!.put('../outside', Buffer.from('x'))).rejects.toThrow('must stay inside')
})
