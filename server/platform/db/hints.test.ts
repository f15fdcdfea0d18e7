import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeLogger } from '#platform/log'
import { makeTestDatabase, type TestDatabase } from '#test/harness/postgres'
import { type Database, openDatabase } from './pool.ts'

let database: TestDatabase
let db: Database
beforeAll(async () => {
  database = await makeTestDatabase()
  db = openDatabase({ urls: database.urls, log: makeLogger('silent'), connections: { app: 4, engine: 2, operator: 1 } })
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

const nobody = { workspaceId: null, userId: null }

describe('hints of a transaction', () => {
  test('are delivered once each after the commit, and never after a rollback', async () => {
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

  test('reach other processes once, and listeners of the same process without the database', async () => {
    const other = openDatabase({
      urls: database.urls,
      log: makeLogger('silent'),
      connections: { app: 1, engine: 2, operator: 1 },
    })
    const [here, there]: [string[], string[]] = [[], []]
    await other.listen('far', (payload) => there.push(payload))
    const stop = await db.listen('far', (payload) => here.push(payload))
    const giving = Array.from({ length: 20 }, (_, n) => db.tenant(nobody, async (tx) => tx.hint('far', `${n}`)))
    await Promise.all(giving)
    const all = Array.from({ length: 20 }, (_, n) => `${n}`)
    expect(here.toSorted()).toEqual(all.toSorted())
    await other.tenant(nobody, async (tx) => tx.hint('far', 'and back'))
    await expect.poll(() => here).toContain('and back')
    await expect.poll(() => there.toSorted()).toEqual([...all, 'and back'].toSorted())
    expect(here).toHaveLength(21)
    await stop()
    await other.close()
  })

  test('are replaced by one hint without a payload for other processes if there are more than 150', async () => {
    const other = openDatabase({
      urls: database.urls,
      log: makeLogger('silent'),
      connections: { app: 1, engine: 2, operator: 1 },
    })
    const heard: string[] = []
    await other.listen('many', (payload) => heard.push(payload))
    await db.tenant(nobody, async (tx) => {
      for (let n = 0; n < 151; n++) tx.hint('many', `${n}`)
    })
    await db.tenant(nobody, async (tx) => tx.hint('many', 'last'))
    await expect.poll(() => heard).toEqual(['', 'last'])
    await other.close()
  })

  test('use one listening connection; after its loss every listener gets a hint without a payload', async () => {
    const other = openDatabase({
      urls: database.urls,
      log: makeLogger('silent'),
      connections: { app: 1, engine: 2, operator: 1 },
    })
    const heard: string[] = []
    await other.listen('one', (payload) => heard.push(`one ${payload}`))
    const stop = await other.listen('two', (payload) => heard.push(`two ${payload}`))
    const superuser = await database.superuser()
    const listening = `from pg_stat_activity where datname = current_database() and query like 'listen %'`
    // Connections that were closed before disappear from the list a moment later.
    await expect.poll(async () => (await superuser.query(`select ${listening}`)).rowCount).toBe(1)
    await superuser.query(`select pg_terminate_backend(pid) ${listening}`)
    await expect.poll(() => heard).toEqual(['one ', 'two '])
    await stop()
    await db.tenant(nobody, async (tx) => {
      tx.hint('two', 'unheard')
      tx.hint('one', 'again')
    })
    await expect.poll(() => heard).toEqual(['one ', 'two ', 'one again'])
    await other.close()
  })

  test('are sent before the database is closed', async () => {
    const short = openDatabase({
      urls: database.urls,
      log: makeLogger('silent'),
      connections: { app: 1, engine: 2, operator: 1 },
    })
    const heard: string[] = []
    const stop = await db.listen('last', (payload) => heard.push(payload))
    await short.tenant(nobody, async (tx) => tx.hint('last', 'words'))
    await short.close()
    await expect.poll(() => heard).toEqual(['words'])
    await stop()
  })
})
