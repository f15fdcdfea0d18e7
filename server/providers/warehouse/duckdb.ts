import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Json, JsonObject } from '#model/definition'
import { bareStatement, inStep, quoteTable, rowOf, textOf, uniqueNames } from './common.ts'
import type { DuckTask, FromDuck } from './duckdb-child.ts'
import { type Query, type QueryResult, type Target, type Warehouse, WarehouseFailure } from './index.ts'

const fileName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.duckdb)?$/

/** DuckDB files of one workspace stand in a directory of their own, under names that cannot leave it. */
export function makeDuckdb(directory: string): Warehouse {
  const fileOf = ({ workspaceId, config }: Target): string | null => {
    const file = textOf(config.file)
    if (file === '') return null
    if (!fileName.test(file))
      throw new WarehouseFailure('resolve', `"${file.slice(0, 100)}" is not the name of a database`)
    return join(directory, workspaceId, `${file.replace(/\.duckdb$/, '')}.duckdb`)
  }

  async function start(target: Target, query: Query): Promise<QueryResult> {
    const file = await inStep('resolve', async () => fileOf(target))
    if (file !== null)
      await inStep('resolve', () => mkdir(join(directory, target.workspaceId), { recursive: true, mode: 0o700 }))
    return readChild(
      {
        file,
        create: file !== null && !existsSync(file),
        text: bareStatement(query.text),
        params: query.params ?? [],
        limit: query.limit,
      },
      query,
    )
  }

  return {
    kind: 'duckdb',
    title: 'DuckDB',
    config_schema: {
      type: 'object',
      additionalProperties: false,
      properties: {
        file: {
          type: 'string',
          title: 'Database',
          pattern: fileName.source,
          description: "A database in the workspace's own area, made empty if it is not there; without one, in memory",
        },
      },
    },
    secret_fields: [],
    destination: (config) => `duckdb:${textOf(config.file)}`,
    async probe(target, { timeoutMs, signal }) {
      const { pages } = await start(target, { text: 'select 1', limit: 1, timeoutMs, signal })
      for await (const _page of pages);
    },
    query: start,
    readTable: (table) => `select * from ${quoteTable(table, '"')}`,
  }
}

/** One statement in a process of its own: a crash, a loop or a memory limit there is only a failed query here. */
async function readChild(task: DuckTask, { timeoutMs, signal }: Query): Promise<QueryResult> {
  const child = fork(new URL('./duckdb-child.ts', import.meta.url), {
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const inbox: FromDuck[] = []
  let wake: () => void = () => {}
  let ended: string | undefined
  const end = (why: string): void => {
    ended ??= why
    child.kill('SIGKILL')
    wake()
  }
  const giveUp = (): void => end('it was cancelled')
  const timer = setTimeout(() => end(`no answer within ${Math.round(timeoutMs / 1000)} s`), timeoutMs)
  signal.addEventListener('abort', giveUp, { once: true })
  if (signal.aborted) giveUp()
  child.on('message', (message: FromDuck) => {
    inbox.push(message)
    wake()
  })
  child.on('error', (error) => end(error.message))
  // The channel ends after the last message came through; the process may be seen to end before that.
  child.on('disconnect', () => end('the database ended unexpectedly, most likely for lack of memory'))
  child.send(task)

  const next = async (): Promise<FromDuck> => {
    for (;;) {
      const message = inbox.shift()
      if (message !== undefined) {
        if ('failed' in message) throw new WarehouseFailure(message.step, message.failed)
        return message
      }
      if (ended !== undefined) throw new WarehouseFailure('read', ended)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const stop = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    end('it is over')
  }

  try {
    const first = await next()
    const columns = 'columns' in first ? first.columns : []
    const names = uniqueNames(columns.map(({ name }) => name))
    async function* pages(): AsyncGenerator<JsonObject[]> {
      try {
        for (;;) {
          const message = await next()
          if ('done' in message) return
          if (!('rows' in message)) continue
          yield message.rows.map((cells: Json[]) => rowOf(names, cells))
          // A child that has said everything may be gone already: without a callback that would fail a query that succeeded.
          if (child.connected) child.send('taken', () => {})
        }
      } finally {
        stop()
      }
    }
    return { columns: columns.map(({ type }, index) => ({ name: names[index]!, type })), pages: pages() }
  } catch (error) {
    stop()
    throw error
  }
}
