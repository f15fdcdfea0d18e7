import { gzipSync } from 'node:zlib'
import type { Leads } from './leads.ts'
import { numbers, type StandIn, serve } from './web.ts'

const lines = (rows: unknown[][]): string =>
  rows
    .map((row) => JSON.stringify(row))
    .join('\n')
    .concat('\n')

/** Numbers that a double cannot represent. ClickHouse quotes decimals only if it is asked to. */
const exact = (quoted: boolean): unknown[][] => [
  ['id', 'sum', 'ids', 'sums', 'line'],
  [
    'Nullable(UInt64)',
    'LowCardinality(Nullable(Decimal(38, 2)))',
    'Array(Int64)',
    'Map(String, Decimal(9, 2))',
    'Tuple(id UInt64, name String)',
  ],
  [
    '9007199254740993',
    quoted ? '12345678901234567.89' : Number('12345678901234567.89'),
    ['7', '-9007199254740993'],
    quoted ? { a: '12.50' } : { a: 12.5 },
    { id: '7', name: '8' },
  ],
  [null, null, [], {}, { id: '0', name: '' }],
]

const DELETE =
  /^delete from `leads` where \(toString\(`id`\) = \{p\d+:String\}\)( or \(toString\(`id`\) = \{p\d+:String\}\))*$/

/**
 * Implements the part of ClickHouse's HTTP interface that the client uses: sign in, a statement, names and types, rows,
 * exceptions.
 */
export async function startClickhouse(user: string, password: string): Promise<StandIn & { leads: Leads }> {
  const leads: Leads = new Map()
  const server = await serve(({ headers, body, url }, response) => {
    const fail = (code: number, name: string, message: string): void => {
      response
        .writeHead(code === 516 ? 403 : 500, { 'x-clickhouse-exception-code': String(code) })
        .end(`Code: ${code}. DB::Exception: ${message}. (${name}) (version 25.8.1.1)`)
    }
    const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    if (headers.authorization !== basic)
      return fail(516, 'AUTHENTICATION_FAILED', `${user}: Authentication failed for ${headers.authorization}`)
    const text = body.toString()
    const done = (): void => {
      response.writeHead(200, { 'x-clickhouse-summary': JSON.stringify({ written_rows: '0' }) }).end()
    }
    const query = url.searchParams.get('query')
    if (query !== null) {
      if (query.trim() !== 'INSERT INTO `leads` (`id`, `name`) FORMAT JSONCompactEachRow')
        return fail(62, 'SYNTAX_ERROR', `Syntax error: ${query}`)
      const rows = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as [number, string | null])
      if (rows.some((row) => row.length !== 2))
        return fail(27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED', 'Cannot parse input')
      for (const [id, name] of rows) leads.set(id, name)
      return done()
    }
    if (/^delete/i.test(text)) {
      if (!DELETE.test(text)) return fail(62, 'SYNTAX_ERROR', 'Syntax error')
      for (const [, name] of text.matchAll(/\{(p\d+):/g)) {
        const value = url.searchParams.get(`param_${name}`)
        if (value === null) return fail(456, 'UNKNOWN_QUERY_PARAMETER', `Substitution \`${name}\` is not set`)
        leads.delete(Number(value))
      }
      return done()
    }
    if (url.searchParams.get('readonly') !== '1') return fail(62, 'SYNTAX_ERROR', `Syntax error: ${text}`)
    if (/^\s*(insert|drop|create)/i.test(text) && url.searchParams.get('readonly') === '1')
      return fail(164, 'READONLY', 'Cannot execute query in readonly mode')
    if (/gone/.test(text)) return fail(60, 'UNKNOWN_TABLE', 'Table default.gone does not exist')
    const quoted = url.searchParams.get('output_format_json_quote_decimals') === '1'
    const rows = /exact/.test(text)
      ? lines(exact(quoted))
      : /numbers/.test(text)
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
  return { ...server, leads }
}
