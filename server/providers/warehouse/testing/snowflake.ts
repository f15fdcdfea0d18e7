import { gunzipSync } from 'node:zlib'
import { numbers, type StandIn, sendJson, serve } from './web.ts'

/** As much of Snowflake's REST interface as the client uses: log in, one query with its rows inline, log out. */
export const startSnowflake = (user: string, password: string, tls: { key: string; cert: string }): Promise<StandIn> =>
  serve(({ url, headers, body }, response) => {
    const read = (): { data?: Record<string, unknown>; sqlText?: string } => {
      const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      return JSON.parse(bytes.toString() || '{}') as { data?: Record<string, unknown>; sqlText?: string }
    }
    const fail = (code: string, message: string): void =>
      sendJson(response, 200, { data: null, code, message, success: false })
    if (url.pathname === '/session/v1/login-request') {
      const { data = {} } = read()
      if (data.LOGIN_NAME !== user || data.PASSWORD !== password)
        return fail('390100', `Incorrect username or password was specified: ${String(data.PASSWORD)}`)
      sendJson(response, 200, {
        success: true,
        code: null,
        message: null,
        data: {
          token: 'session-token',
          masterToken: 'master-token',
          validityInSeconds: 3600,
          masterValidityInSeconds: 14_400,
          sessionId: 1,
          parameters: [],
          sessionInfo: { databaseName: 'D', schemaName: 'S', warehouseName: 'W', roleName: 'R' },
        },
      })
      return
    }
    if (url.pathname === '/queries/v1/query-request') {
      if (headers.authorization !== 'Snowflake Token="session-token"') return fail('390104', 'The session is not valid')
      const text = read().sqlText ?? ''
      if (/gone/.test(text)) return fail('002003', 'SQL compilation error: Object GONE does not exist')
      if (/\(\s*(insert|drop|delete)/i.test(text))
        return fail('001003', 'SQL compilation error: syntax error unexpected INSERT')
      const rows = /numbers/.test(text) ? numbers.map(({ n, name }) => [String(n), name]) : [['1', 'one']]
      const limit = Number(/limit (\d+)\s*$/.exec(text)?.[1] ?? rows.length)
      const rowset = rows.slice(0, limit)
      sendJson(response, 200, {
        success: true,
        code: null,
        message: null,
        data: {
          parameters: [],
          rowtype: [
            { name: 'N', type: 'fixed', scale: 0, precision: 38, nullable: true, byteLength: null, length: null },
            { name: 'NAME', type: 'text', scale: null, precision: null, nullable: true, byteLength: 100, length: 100 },
          ],
          rowset,
          total: rowset.length,
          returned: rowset.length,
          queryId: '01b2c3d4-0000-0000-0000-000000000001',
          queryResultFormat: 'json',
          statementTypeId: 4096,
          version: 1,
          finalDatabaseName: 'D',
          finalSchemaName: 'S',
          finalWarehouseName: 'W',
          finalRoleName: 'R',
        },
      })
      return
    }
    sendJson(response, 200, { success: true, data: null, code: null, message: null })
  }, tls)
