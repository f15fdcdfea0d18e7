import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Database, openDatabase } from './pool.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: makeLogger('silent'), poolSize: 4 })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const nobody = { workspaceId: null, userId: null }

describe('hints of a transaction', () => {
  test('are heard once it has committed, each once, and never of one that was undone', async () => {
    const heard: string[] = []
    const stop = await db.listen('news', (payload) => heard.push(payload))
    const undone = db.tenant(nobody, async (tx) => {
      tx.hint('news', 'undone')
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = db.tenant(nobody, async (tx) => {
      tx.hint('news', 'slow')
      tx.hint('news', 'slow')
      await held
    })
    await db.tenant(nobody, async (tx) => tx.hint('news', 'quick'))
    await expect.poll(() => heard).toEqual(['quick'])
    release()
    await slow
    await expect.poll(() => heard).toEqual(['quick', 'slow'])
    await stop()
  })

  test('leave before the database is closed', async () => {
    const short = openDatabase({ urls: database.urls, log: makeLogger('silent'), poolSize: 1 })
    const heard: string[] = []
    const stop = await db.listen('last', (payload) => heard.push(payload))
    await short.tenant(nobody, async (tx) => tx.hint('last', 'words'))
    await short.close()
    await expect.poll(() => heard).toEqual(['words'])
    await stop()
  })
})
