import { gunzipSync } from 'node:zlib'
import { apply, countMarkers, type Leads, rowsOf } from './leads.ts'
import { numbers, type StandIn, sendJson, serve } from './web.ts'

/** Numbers that a double cannot represent, a column twice, and a column whose name is a number. */
const EXACT = {
  columns: [
    { name: 'ID', type: 'fixed', scale: 0, precision: 38, nullable: true },
    { name: 'SUM', type: 'fixed', scale: 2, precision: 38, nullable: true },
    { name: '2025', type: 'real', scale: null, precision: null, nullable: true },
    { name: 'ID', type: 'text', scale: null, precision: null, nullable: true, length: 100 },
  ],
  rows: [
    ['9007199254740993', '12345678901234567.89', '0.30000000000000004', 'first'],
    ['7', '12.50', '-inf', null],
    [null, null, null, 'last'],
  ],
}

type Body = {
  data?: Record<string, unknown>
  sqlText?: string
  bindings?: Record<string, { type: string; value: unknown }>
}

const INSERT = /^insert into "leads" \("id", "name"\) values \(\?, \?\)(, \(\?, \?\))*$/
const MERGE =
  /^merge into "leads" as target using \(select column1 as "id", column2 as "name" from values \(\?, \?\)(, \(\?, \?\))*\) as source on target\."id" = source\."id" when matched then update set "name" = source\."name" when not matched then insert \("id", "name"\) values \(source\."id", source\."name"\)$/

/**
 * Implements the part of Snowflake's REST interface that the client uses: log in, one query with inline rows, log out.
 */
export async function startSnowflake(
  user: string,
  password: string,
  tls: { key: string; cert: string },
): Promise<StandIn & { leads: Leads; said: string[] }> {
  const leads: Leads = new Map()
  const said: string[] = []
  let before: Leads | undefined
  const server = await serve(({ url, headers, body }, response) => {
    const read = (): Body => {
      const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      return JSON.parse(bytes.toString() || '{}') as Body
    }
    /** The response to a statement that changes rows: one column with their number. */
    const changed = (rows: number, statementTypeId = 0x3100): void =>
      sendJson(response, 200, {
        success: true,
        code: null,
        message: null,
        data: {
          parameters: [],
          rowtype: [{ name: 'rows', type: 'fixed', scale: 0, precision: 19, nullable: false }],
          rowset: [[String(rows)]],
          total: 1,
          returned: 1,
          queryId: '01b2c3d4-0000-0000-0000-000000000002',
          queryResultFormat: 'json',
          statementTypeId,
          version: 1,
        },
      })
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
      const { sqlText: text = '', bindings = {} } = read()
      said.push(text)
      if (text === 'begin') {
        before = new Map(leads)
        return changed(0, 0x5400)
      }
      if (text === 'commit' || text === 'rollback') {
        if (!before) return fail('000900', 'there is no transaction')
        if (text === 'rollback') {
          leads.clear()
          for (const [id, name] of before) leads.set(id, name)
        }
        before = undefined
        return changed(0, 0x5400)
      }
      if (/^(insert|merge)/.test(text)) {
        if (!before) return fail('000900', 'a statement that writes came outside of a transaction')
        const kind = INSERT.test(text) ? 'insert' : MERGE.test(text) ? 'merge' : undefined
        const rows = rowsOf(
          countMarkers(text),
          Object.values(bindings).map(({ value }) => value),
        )
        if (!kind || !rows) return fail('001003', `SQL compilation error: ${text}`)
        const wrong = apply(leads, { kind, rows })
        return wrong ? fail('100072', wrong) : changed(rows.length, kind === 'insert' ? 0x3100 : 0x3400)
      }
      if (/gone/.test(text)) return fail('002003', 'SQL compilation error: Object GONE does not exist')
      if (/\(\s*(insert|drop|delete)/i.test(text))
        return fail('001003', 'SQL compilation error: syntax error unexpected INSERT')
      const rows = /exact/.test(text)
        ? EXACT.rows
        : /numbers/.test(text)
          ? numbers.map(({ n, name }) => [String(n), name])
          : [['1', 'one']]
      const limit = Number(/limit (\d+)\s*$/.exec(text)?.[1] ?? rows.length)
      const rowset = rows.slice(0, limit)
      sendJson(response, 200, {
        success: true,
        code: null,
        message: null,
        data: {
          parameters: [],
          rowtype: /exact/.test(text)
            ? EXACT.columns
            : [
                { name: 'N', type: 'fixed', scale: 0, precision: 38, nullable: true },
                { name: 'NAME', type: 'text', scale: null, precision: null, nullable: true, length: 100 },
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
  return { ...server, leads, said }
}
