import { gzipSync } from 'node:zlib'
import { numbers, type StandIn, serve } from './web.ts'

const lines = (rows: unknown[][]): string =>
  rows
    .map((row) => JSON.stringify(row))
    .join('\n')
    .concat('\n')

/** As much of ClickHouse's HTTP interface as the client uses: sign in, a statement, names and types, rows, exceptions. */
export const startClickhouse = (user: string, password: string): Promise<StandIn> =>
  serve(({ headers, body, url }, response) => {
    const fail = (code: number, name: string, message: string): void => {
      response
        .writeHead(code === 516 ? 403 : 500, { 'x-clickhouse-exception-code': String(code) })
        .end(`Code: ${code}. DB::Exception: ${message}. (${name}) (version 25.8.1.1)`)
    }
    const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    if (headers.authorization !== basic)
      return fail(516, 'AUTHENTICATION_FAILED', `${user}: Authentication failed for ${headers.authorization}`)
    const text = body.toString()
    if (/^\s*(insert|drop|create)/i.test(text) && url.searchParams.get('readonly') === '1')
      return fail(164, 'READONLY', 'Cannot execute query in readonly mode')
    if (/gone/.test(text)) return fail(60, 'UNKNOWN_TABLE', 'Table default.gone does not exist')
    const rows = /numbers/.test(text)
      ? lines([
          ['n', 'name', 'big'],
          ['UInt64', 'String', 'Int64'],
          ...numbers.map(({ n, name }) => [String(n), name, '9007199254740993']),
        ])
      : lines([['1'], ['UInt8'], [1]])
    const packed = /gzip/.test(headers['accept-encoding'] ?? '')
    response
      .writeHead(200, {
        'x-clickhouse-format': 'JSONCompactEachRowWithNamesAndTypes',
        ...(packed && { 'content-encoding': 'gzip' }),
      })
      .end(packed ? gzipSync(rows) : rows)
  })
