import { member, viewer } from '#platform/access/words'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import {
  Connection,
  ConnectionList,
  ConnectionPatch,
  Credential,
  connectionQuery,
  NewConnection,
  NewSource,
  Source,
  sourceList,
} from './schema.ts'
import type { Connections } from './service.ts'

export const connectionRoutes = (connections: Connections): AnyRoute[] =>
  routes(
    'Connections',
    {
      listConnections: ['GET', '/api/connections', viewer('workspace')],
      createConnection: ['POST', '/api/connections', member('workspace')],
      getConnection: ['GET', '/api/connections/:connection_id', viewer('connection')],
      updateConnection: ['PATCH', '/api/connections/:connection_id', member('connection')],
      verifyConnection: ['POST', '/api/connections/:connection_id/verify', member('connection'), 'run'],
      revokeConnection: ['DELETE', '/api/connections/:connection_id', member('connection')],
      rearmConnection: ['PUT', '/api/connections/:connection_id/credential', member('connection')],
      listSources: ['GET', '/api/connections/:connection_id/sources', viewer('connection')],
      createSource: ['POST', '/api/connections/:connection_id/sources', member('connection')],
      getSource: ['GET', '/api/sources/:source_id', viewer('source')],
      deleteSource: ['DELETE', '/api/sources/:source_id', member('source')],
    },
    {
      listConnections: {
        summary: 'Every connection of the workspace, plus the kinds the org offers',
        query: connectionQuery,
        answer: ConnectionList,
        run: connections.listConnections,
      },
      createConnection: {
        summary: 'Probe the credential against the warehouse, then store it',
        description:
          'The probe goes step by step: resolve, connect, TLS, sign in, read. Where one fails nothing is stored and the answer is 422 `probe_failed`, naming it.',
        body: NewConnection,
        answer: Connection,
        status: 201,
        location: ({ connection_id }) => `/api/connections/${connection_id}`,
        transaction: false,
        examples: {
          body: {
            name: 'Sales',
            kind: 'postgres',
            config: { host: 'warehouse.example.com', port: 5432, database: 'sales', user: 'reader', ssl: 'verify' },
            secrets: { password: '…' },
          },
        },
        run: connections.createConnection,
      },
      getConnection: {
        summary: 'One connection',
        extension: true,
        answer: Connection,
        transaction: false,
        run: connections.getConnection,
      },
      updateConnection: {
        summary: 'Rename a connection, or let workflows write through it',
        description: 'Only its owner and owners of the workspace change `allow_write`.',
        extension: true,
        body: ConnectionPatch,
        answer: Connection,
        current: connections.getConnection,
        transaction: false,
        examples: { body: { allow_write: true } },
        run: connections.updateConnection,
      },
      verifyConnection: {
        summary: 'Re-probe and update the status',
        answer: Connection,
        transaction: false,
        run: connections.verifyConnection,
      },
      revokeConnection: {
        summary: 'Revoke the credential; the connection and its sources stay, jobs using it pause',
        status: 204,
        current: connections.getConnection,
        transaction: false,
        run: connections.revokeConnection,
      },
      rearmConnection: {
        summary: 'Store a new credential, and resume what had paused for want of one',
        extension: true,
        body: Credential,
        answer: Connection,
        current: connections.getConnection,
        transaction: false,
        run: connections.rearmConnection,
      },
      listSources: {
        summary: 'The sources attached to a connection',
        extension: true,
        query: sourceList.query,
        answer: page(Source),
        run: connections.listSources,
      },
      createSource: {
        summary: 'Attach a table or a query as a source',
        extension: true,
        body: NewSource,
        answer: Source,
        status: 201,
        location: ({ source_id }) => `/api/sources/${source_id}`,
        examples: { body: { name: 'Open orders', query: 'select * from orders where open' } },
        run: connections.createSource,
      },
      getSource: { summary: 'One source', extension: true, answer: Source, run: connections.getSource },
      deleteSource: {
        summary: 'Detach a source',
        extension: true,
        status: 204,
        current: connections.getSource,
        run: connections.deleteSource,
      },
    },
  )
