import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { apply, countMarkers, type Leads, rowsOf as leadsOf } from './leads.ts'
import { numbers, type StandIn, serve } from './web.ts'

// Databricks SQL uses Thrift over HTTPS. The stand-in is built from the same generated service as the client, so that
// it uses the real protocol.

type Reply = (error: unknown, result: unknown) => void
type Types = Record<string, new (fields: Record<string, unknown>) => Record<string, unknown>> & {
  TSparkRowSetType: { COLUMN_BASED_SET: number; ARROW_BASED_SET: number }
  TProtocolVersion: Record<string, number>
}
type Thrift = {
  TBinaryProtocol: new (transport: unknown) => unknown
  TBufferedTransport: (new (
    unused: undefined,
    flush: (bytes: Buffer) => void,
  ) => unknown) & {
    receiver(done: (transport: { commitPosition(): void }) => void): (bytes: Buffer) => void
  }
}
type Arrow = Record<'Decimal' | 'Field' | 'Int64' | 'RecordBatch' | 'Schema' | 'Struct' | 'Table', Made> & {
  makeData(fields: object): object
  tableToIPC(table: object, as: 'stream'): Uint8Array
}
type Made = new (...given: unknown[]) => object
type Processor = { process(input: unknown, output: unknown): void }

const vendor = createRequire(createRequire(import.meta.url).resolve('@databricks/sql'))
const thrift = vendor('thrift') as Thrift
const arrow = vendor('apache-arrow') as Arrow
const types = vendor('../thrift/TCLIService_types') as Types
const { Processor: ServiceProcessor } = vendor('../thrift/TCLIService') as {
  Processor: new (handler: unknown) => Processor
}

const END_OF_STREAM = 8

/**
 * Two rows of an integer and a decimal in Arrow, the format of current servers: its schema, and the rows. A double
 * cannot represent those of the first row.
 */
const EXACT = ((): { schema: Buffer; batch: Buffer } => {
  const { Decimal, Field, Int64, RecordBatch, Schema, Struct, Table, makeData, tableToIPC } = arrow
  const sum = new Decimal(2, 38)
  const fields = [new Field('id', new Int64(), true), new Field('sum', sum, true)]
  const schema = new Schema(fields)
  const hundredths = new Uint32Array(8)
  new BigUint64Array(hundredths.buffer).set([1_234_567_890_123_456_789n, 0n, 1_250n, 0n])
  const children = [
    makeData({ type: new Int64(), data: new BigInt64Array([9_007_199_254_740_993n, 7n]) }),
    makeData({ type: sum, data: hundredths }),
  ]
  const rows = new RecordBatch(schema, makeData({ type: new Struct(fields), length: 2, nullCount: 0, children }))
  const whole = Buffer.from(tableToIPC(new Table(rows), 'stream'))
  const end = Buffer.from(tableToIPC(new Table(schema), 'stream')).length - END_OF_STREAM
  return { schema: whole.subarray(0, end), batch: whole.subarray(end) }
})()

const make = (name: string, fields: Record<string, unknown>): unknown => new types[name]!(fields)
const SUCCESS = 0
const FAILED = 3
const FINISHED = 2
const fine = () => make('TStatus', { statusCode: SUCCESS })
const handle = () => make('THandleIdentifier', { guid: guid(), secret: guid() })
const guid = (): Buffer => Buffer.from(randomUUID().replaceAll('-', ''), 'hex')

const INSERT = /^insert into `leads` \(`id`, `name`\) values \(\?, \?\)(, \(\?, \?\))*$/
const MERGE =
  /^merge into `leads` as target using \(select \* from values \(\?, \?\)(, \(\?, \?\))* as given\(`id`, `name`\)\) as source on target\.`id` = source\.`id` when matched then update set `name` = source\.`name` when not matched then insert \(`id`, `name`\) values \(source\.`id`, source\.`name`\)$/

type Parameter = { value?: { stringValue?: string } }

export async function startDatabricks(
  token: string,
  tls: { key: string; cert: string },
): Promise<StandIn & { leads: Leads }> {
  let text = ''
  const leads: Leads = new Map()
  /** The number of rows that the last statement changed. Null after a statement that reads. */
  let changed: number | null = null
  const write = (statement: string, parameters: Parameter[]): string | undefined => {
    const kind = INSERT.test(statement) ? 'insert' : MERGE.test(statement) ? 'merge' : undefined
    const rows = leadsOf(
      countMarkers(statement),
      parameters.map(({ value }) => value?.stringValue ?? null),
    )
    if (!kind || !rows) return `[PARSE_SYNTAX_ERROR] Syntax error in ${statement}`
    changed = rows.length
    return apply(leads, { kind, rows })
  }
  let sent = 0
  const rowsOf = () => (/numbers/.test(text) ? numbers : [{ n: 1, name: 'one' }])
  const column = (name: string, position: number, type: number) =>
    make('TColumnDesc', {
      columnName: name,
      position,
      typeDesc: make('TTypeDesc', {
        types: [make('TTypeEntry', { primitiveEntry: make('TPrimitiveTypeEntry', { type }) })],
      }),
    })
  const isExact = (): boolean => /exact/.test(text)
  const handler = {
    OpenSession: (_request: unknown, reply: Reply) =>
      reply(
        null,
        make('TOpenSessionResp', {
          status: fine(),
          serverProtocolVersion: types.TProtocolVersion.SPARK_CLI_SERVICE_PROTOCOL_V8,
          sessionHandle: make('TSessionHandle', { sessionId: handle() }),
        }),
      ),
    ExecuteStatement(request: { statement: string; parameters?: Parameter[] | null }, reply: Reply) {
      text = request.statement
      sent = 0
      changed = null
      const wrong = /^(insert|merge)/.test(text)
        ? write(text, request.parameters ?? [])
        : /gone/.test(text)
          ? '[TABLE_OR_VIEW_NOT_FOUND] The table or view `gone` cannot be found'
          : /\(\s*(insert|create|drop)/i.test(text)
            ? '[PARSE_SYNTAX_ERROR] Syntax error at or near INSERT'
            : undefined
      const status =
        wrong === undefined ? fine() : make('TStatus', { statusCode: FAILED, errorMessage: wrong, sqlState: '42000' })
      const operationHandle = make('TOperationHandle', { operationId: handle(), operationType: 0, hasResultSet: true })
      reply(null, make('TExecuteStatementResp', { status, ...(wrong === undefined && { operationHandle }) }))
    },
    GetOperationStatus: (_request: unknown, reply: Reply) =>
      reply(null, make('TGetOperationStatusResp', { status: fine(), operationState: FINISHED, hasResultSet: true })),
    GetResultSetMetadata: (_request: unknown, reply: Reply) =>
      reply(
        null,
        make('TGetResultSetMetadataResp', {
          status: fine(),
          resultFormat: isExact() ? types.TSparkRowSetType.ARROW_BASED_SET : types.TSparkRowSetType.COLUMN_BASED_SET,
          ...(isExact() && { arrowSchema: EXACT.schema }),
          schema: make('TTableSchema', {
            columns: isExact()
              ? [column('id', 1, 4), column('sum', 2, 15)]
              : changed === null
                ? [column('n', 1, 3), column('name', 2, 7)]
                : [column('num_affected_rows', 1, 3)],
          }),
        }),
      ),
    FetchResults(request: { maxRows?: unknown }, reply: Reply) {
      if (changed !== null) {
        const columns = [make('TColumn', { i32Val: make('TI32Column', { values: [changed], nulls: Buffer.alloc(0) }) })]
        const results = make('TRowSet', { startRowOffset: 0, rows: [], columns })
        reply(null, make('TFetchResultsResp', { status: fine(), hasMoreRows: false, results }))
        return
      }
      if (isExact()) {
        const arrowBatches = [make('TSparkArrowBatch', { batch: EXACT.batch, rowCount: 2 })]
        const results = make('TRowSet', { startRowOffset: 0, rows: [], arrowBatches })
        reply(null, make('TFetchResultsResp', { status: fine(), hasMoreRows: false, results }))
        return
      }
      const limit = Number(/limit (\d+)\s*$/.exec(text)?.[1] ?? Number.POSITIVE_INFINITY)
      const all = rowsOf().slice(0, limit)
      const most = Number(String(request.maxRows ?? 1000))
      const page = all.slice(sent, sent + most)
      sent += page.length
      const nulls = Buffer.alloc(0)
      const columns = [
        make('TColumn', { i32Val: make('TI32Column', { values: page.map(({ n }) => n), nulls }) }),
        make('TColumn', { stringVal: make('TStringColumn', { values: page.map(({ name }) => name), nulls }) }),
      ]
      const results = make('TRowSet', { startRowOffset: 0, rows: [], columns })
      reply(null, make('TFetchResultsResp', { status: fine(), hasMoreRows: sent < all.length, results }))
    },
    CloseOperation: (_request: unknown, reply: Reply) => reply(null, make('TCloseOperationResp', { status: fine() })),
    CancelOperation: (_request: unknown, reply: Reply) => reply(null, make('TCancelOperationResp', { status: fine() })),
    CloseSession: (_request: unknown, reply: Reply) => reply(null, make('TCloseSessionResp', { status: fine() })),
  }
  const processor = new ServiceProcessor(handler)
  const server = await serve(({ headers, body }, response) => {
    if (headers.authorization !== `Bearer ${token}`) {
      response.writeHead(403, { 'x-databricks-error-or-redirect-message': 'Invalid access token' }).end()
      return
    }
    const receive = thrift.TBufferedTransport.receiver((transport) => {
      const output = new thrift.TBufferedTransport(undefined, (bytes) => {
        response.writeHead(200, { 'content-type': 'application/x-thrift' }).end(bytes)
      })
      processor.process(new thrift.TBinaryProtocol(transport), new thrift.TBinaryProtocol(output))
      transport.commitPosition()
    })
    receive(body)
  }, tls)
  return { ...server, leads }
}
