import { type Cases, type Cast, rows, withChanges } from './matrix.ts'

/** Guests see no connection, viewers read connections, members change them. */
const reading = withChanges(rows.workspaceRead, { guest: 404 })
const changing = withChanges(rows.workspaceWrite, { guest: 404 })

const newConnection = { name: 'Case', kind: 'duckdb', config: {} }

const made = new Map<string, Promise<string>>()

/** One connection per workspace and purpose, because each probe of DuckDB starts its own process. */
function madeConnection({ author, workspace }: Cast, purpose: string): Promise<string> {
  const key = `${workspace.id} ${purpose}`
  let connection = made.get(key)
  if (connection === undefined) {
    connection = author.call('POST', '/api/connections', { body: newConnection }).then(({ body, text }) => {
      if (!body?.connection_id) throw new Error(text)
      return body.connection_id as string
    })
    made.set(key, connection)
  }
  return connection
}

export async function madeSource(cast: Cast, purpose: string): Promise<string> {
  const connectionId = await madeConnection(cast, purpose)
  const { body, text } = await cast.author.call('POST', `/api/connections/${connectionId}/sources`, {
    body: { name: 'Case', query: 'select 1 as a' },
  })
  if (!body?.source_id) throw new Error(text)
  return body.source_id as string
}

const connection = (purpose: string) => async (cast: Cast) => ({
  params: { connection_id: await madeConnection(cast, purpose) },
})

export const connectionCases: Cases = {
  listConnections: { expect: rows.selectedRead },
  createConnection: {
    expect: rows.selectedWrite,
    prepare: async () => ({ body: newConnection }),
    afterFirst: { body: { ...newConnection, name: '' } },
  },
  getConnection: { expect: reading, prepare: connection('read') },
  updateConnection: {
    expect: changing,
    prepare: async (cast) => ({ ...(await connection('read')(cast)), body: { name: 'Renamed' } }),
  },
  verifyConnection: { expect: changing, prepare: connection('verify') },
  revokeConnection: { expect: changing, prepare: connection('revoke') },
  rearmConnection: {
    expect: changing,
    prepare: async (cast) => ({ ...(await connection('rearm')(cast)), body: { secrets: {} } }),
    afterFirst: { body: { secrets: 1 } },
  },
  browseTables: { expect: changing, prepare: connection('tables') },
  previewTable: {
    expect: changing,
    prepare: async (cast) => ({ ...(await connection('preview')(cast)), query: '?table=information_schema.tables' }),
    afterFirst: { query: '' },
  },
  listSources: { expect: reading, prepare: connection('sources') },
  createSource: {
    expect: changing,
    prepare: async (cast) => ({ ...(await connection('sources')(cast)), body: { name: 'Made', table: 'orders' } }),
  },
  getSource: {
    expect: reading,
    prepare: async (cast) => ({ params: { source_id: await madeSource(cast, 'sources') } }),
  },
  deleteSource: {
    expect: changing,
    prepare: async (cast) => ({ params: { source_id: await madeSource(cast, 'sources') } }),
  },
}
