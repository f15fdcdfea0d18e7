import { mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject } from '#model/definition'
import { inStep, quoteTable, readFromWith, textOf } from './common.ts'
import { type Query, type QueryResult, type Target, type Warehouse, WarehouseFailure } from './index.ts'
import { type Dialect, writingIn } from './writing.ts'

const fileName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.duckdb)?$/

export const duckdbDialect: Dialect = {
  transaction: true,
  maxParameters: 10_000,
  quote: { open: '"', close: '"' },
  parameter: (n) => `$${n}`,
  upsert: 'on conflict',
}

/**
 * The maximum size of all databases of a workspace, checked before a write. The kernel limits the file size per
 * process.
 */
const MAX_WORKSPACE_BYTES = 2 * 1024 ** 3

async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory)
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

const whyReadOnly = (config: JsonObject): string | null =>
  textOf(config.file) === '' ? 'the connection has no database, so the data would be lost' : null

/** Stores the DuckDB files of each workspace in a separate directory, under names that cannot leave it. */
export function makeDuckdb(directory: string): Warehouse {
  const fileOf = ({ workspaceId, config }: Target): string | null => {
    const file = textOf(config.file)
    if (file === '') return null
    if (!fileName.test(file))
      throw new WarehouseFailure('resolve', `"${file.slice(0, 100)}" is not the name of a database`)
    return join(directory, workspaceId, `${file.replace(/\.duckdb$/, '')}.duckdb`)
  }

  /** Loads the library only where a query runs, never in the service itself. */
  async function query(target: Target, wanted: Query): Promise<QueryResult> {
    const { runDuckdb } = await import('./duckdb-run.ts')
    return runDuckdb(fileOf(target), wanted)
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
    prepare: (target) =>
      inStep('resolve', async () => {
        if (fileOf(target) === null) return
        await mkdir(join(directory, target.workspaceId), { recursive: true, mode: 0o700 })
      }),
    async probe(target, options) {
      const { pages } = await query(target, { text: 'select 1', limit: 1, ...options })
      for await (const _page of pages);
    },
    query,
    readTable: (table) => `select * from ${quoteTable(table, '"')}`,
    readFrom: readFromWith('"', '$1'),
    writing: writingIn(duckdbDialect),
    whyReadOnly,
    async prepareWriting({ workspaceId, config }) {
      const reason = whyReadOnly(config)
      if (reason !== null) throw new WarehouseFailure('write', reason, 'nothing')
      if ((await bytesIn(join(directory, workspaceId))) >= MAX_WORKSPACE_BYTES)
        throw new WarehouseFailure('write', 'the databases of the workspace have reached the limit of 2 GiB', 'nothing')
    },
    async execute(target, work) {
      const { executeDuckdb } = await import('./duckdb-run.ts')
      return executeDuckdb(fileOf(target)!, work)
    },
  }
}
