import { createVerify, generateKeyPairSync } from 'node:crypto'
import { apply, countMarkers, type Leads, rowsOf } from './leads.ts'
import { numbers, type StandIn, sendJson, serve } from './web.ts'

/** Numbers that a double cannot represent, also inside of a list of records. */
const EXACT = {
  kind: 'bigquery#getQueryResultsResponse',
  jobComplete: true,
  totalRows: '1',
  schema: {
    fields: [
      { name: 'id', type: 'INTEGER', mode: 'NULLABLE' },
      { name: 'ids', type: 'INTEGER', mode: 'REPEATED' },
      { name: 'place', type: 'GEOGRAPHY', mode: 'NULLABLE' },
      {
        name: 'lines',
        type: 'RECORD',
        mode: 'REPEATED',
        fields: [
          { name: 'day', type: 'DATE', mode: 'NULLABLE' },
          { name: 'sum', type: 'NUMERIC', mode: 'NULLABLE' },
          { name: 'big', type: 'BIGNUMERIC', mode: 'NULLABLE' },
          { name: 'bytes', type: 'BYTES', mode: 'NULLABLE' },
        ],
      },
    ],
  },
  rows: [
    {
      f: [
        { v: '9007199254740993' },
        { v: [{ v: '7' }, { v: '-9007199254740993' }] },
        { v: 'POINT(4 52)' },
        { v: [{ v: { f: [{ v: '2026-01-31' }, { v: '12.5' }, { v: '12345678901234567.89' }, { v: 'AP8=' }] } }] },
      ],
    },
  ],
}

export type BigqueryStandIn = StandIn & { serviceAccount(tokenAddress: string): string; leads: Leads; said: string[] }

const INSERT = /^insert into `d`\.`leads` \(`id`, `name`\) values \(\?, \?\)(, \(\?, \?\))*$/
const MERGE =
  /^merge into `d`\.`leads` as target using \(select \? as `id`, \? as `name`( union all select \?, \?)*\) as source on target\.`id` = source\.`id` when matched then update set `name` = source\.`name` when not matched then insert \(`id`, `name`\) values \(source\.`id`, source\.`name`\)$/

type QueryRequest = {
  query: string
  useLegacySql?: boolean
  parameterMode?: string
  queryParameters?: { parameterType: { type: string }; parameterValue: { value: string | null } }[]
  createSession?: boolean
  connectionProperties?: { key: string; value: string }[]
}

const PAGE = 1_000

/** Implements the part of Google's token endpoint and BigQuery's REST interface that the client uses. */
export async function startBigquery(): Promise<BigqueryStandIn> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const statements = new Map<string, string>()
  const leads: Leads = new Map()
  const said: string[] = []
  let session: { id: string; leads: Leads | null } | undefined
  let running: { jobId: string; answer: object } | undefined

  /** Returns the response to a write request, or the reason why it is refused. */
  function write(request: QueryRequest): object | string {
    const { query, queryParameters = [], connectionProperties = [] } = request
    said.push(query)
    if (request.useLegacySql !== false) return 'Legacy SQL is not supported'
    const given = connectionProperties.find(({ key }) => key === 'session_id')?.value
    if (given !== undefined && given !== session?.id) return 'Session not found'
    if (query === 'begin transaction') {
      if (!request.createSession) return 'Transaction control statements need a session'
      session = { id: 'session-1', leads: new Map(leads) }
      return { sessionInfo: { sessionId: session.id } }
    }
    if (/^(commit|rollback) transaction$/.test(query)) {
      if (given === undefined || !session?.leads) return 'There is no transaction'
      if (query.startsWith('commit')) for (const [id, name] of session.leads) leads.set(id, name)
      session.leads = null
      return {}
    }
    if (query === 'call bq.abort_session()') {
      if (given === undefined) return 'There is no session'
      session = undefined
      return {}
    }
    const kind = INSERT.test(query) ? 'insert' : MERGE.test(query) ? 'merge' : undefined
    if (!kind) return `Syntax error: ${query}`
    if (request.parameterMode !== 'POSITIONAL') return 'Query parameters need a mode'
    const types = queryParameters.map(({ parameterType }) => parameterType.type)
    if (types.some((type, at) => type !== (at % 2 === 0 ? 'INT64' : 'STRING')))
      return `Value of type ${types} cannot be assigned`
    const rows = rowsOf(
      countMarkers(query),
      queryParameters.map(({ parameterValue }) => parameterValue.value),
    )
    if (!rows) return 'The number of parameters does not fit'
    const target = given === undefined ? leads : session?.leads
    if (!target) return 'There is no transaction'
    return apply(target, { kind, rows }) ?? { numDmlAffectedRows: String(rows.length) }
  }

  const server = await serve(({ method, url, headers, body }, response) => {
    if (url.pathname === '/token') {
      const assertion = new URLSearchParams(body.toString()).get('assertion') ?? ''
      const [head, claim, signature] = assertion.split('.')
      const fits = createVerify('RSA-SHA256')
        .update(`${head}.${claim}`)
        .verify(publicKey, signature ?? '', 'base64url')
      const { scope = '' } = JSON.parse(Buffer.from(claim ?? '', 'base64url').toString() || '{}') as { scope?: string }
      const access_token = scope.endsWith('.readonly') ? 'token-of-the-stand-in' : 'token-that-writes'
      if (fits) sendJson(response, 200, { access_token, expires_in: 3600, token_type: 'Bearer' })
      else sendJson(response, 400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
      return
    }
    const fail = (code: number, message: string): void =>
      sendJson(response, code, {
        error: { code, message, errors: [{ message, reason: 'invalidQuery', domain: 'global' }] },
      })
    if (headers.authorization === 'Bearer token-that-writes') {
      if (method === 'GET' && url.pathname === '/bigquery/v2/projects/p/datasets/d/tables/leads') {
        const fields = [
          { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
          { name: 'name', type: 'STRING' },
        ]
        return sendJson(response, 200, { schema: { fields } })
      }
      if (method === 'POST' && url.pathname === '/bigquery/v2/projects/p/queries') {
        const answer = write(JSON.parse(body.toString()) as QueryRequest)
        if (typeof answer === 'string') return fail(400, answer)
        // The response is available only when the client polls for it.
        running = { jobId: `writing-${said.length}`, answer }
        return sendJson(response, 200, { jobComplete: false, jobReference: { jobId: running.jobId, location: 'EU' } })
      }
      if (method === 'GET' && running && url.pathname === `/bigquery/v2/projects/p/queries/${running.jobId}`) {
        if (url.searchParams.get('location') !== 'EU') return fail(404, 'Not found: job')
        return sendJson(response, 200, { jobComplete: true, ...running.answer })
      }
      return fail(404, `Not found: ${url.pathname}`)
    }
    if (headers.authorization !== 'Bearer token-of-the-stand-in')
      return fail(401, 'Request had invalid authentication credentials.')
    if (method === 'POST' && url.pathname.endsWith('/jobs')) {
      const { configuration, jobReference } = JSON.parse(body.toString()) as {
        configuration: { dryRun?: boolean; query: { query: string } }
        jobReference?: { jobId?: string }
      }
      const text = configuration.query.query
      if (/gone/.test(text)) return fail(404, 'Not found: Table p:d.gone')
      const statementType = /^\s*(select|with)/i.test(text) ? (/;\s*\S/.test(text) ? 'SCRIPT' : 'SELECT') : 'INSERT'
      const jobId = jobReference?.jobId ?? `job-${statements.size}`
      if (!configuration.dryRun) statements.set(jobId, text)
      sendJson(response, 200, {
        kind: 'bigquery#job',
        jobReference: { projectId: 'p', jobId, location: 'EU' },
        status: { state: 'DONE' },
        statistics: { query: { statementType } },
        configuration,
      })
      return
    }
    const job = /\/queries\/([^/]+)$/.exec(url.pathname)?.[1]
    if (method === 'GET' && job !== undefined && /exact/.test(statements.get(job) ?? ''))
      return sendJson(response, 200, { ...EXACT, jobReference: { projectId: 'p', jobId: job, location: 'EU' } })
    if (method === 'GET' && job !== undefined && statements.has(job)) {
      const all = /numbers/.test(statements.get(job)!) ? numbers : [{ n: 1, name: 'one' }]
      const from = Number(url.searchParams.get('pageToken') ?? 0)
      const most = Math.min(PAGE, Number(url.searchParams.get('maxResults') ?? PAGE))
      const page = all.slice(from, from + most)
      sendJson(response, 200, {
        kind: 'bigquery#getQueryResultsResponse',
        jobComplete: true,
        jobReference: { projectId: 'p', jobId: job, location: 'EU' },
        totalRows: String(all.length),
        schema: {
          fields: [
            { name: 'n', type: 'INTEGER', mode: 'NULLABLE' },
            { name: 'name', type: 'STRING', mode: 'NULLABLE' },
            { name: 'day', type: 'DATE', mode: 'NULLABLE' },
            { name: 'sum', type: 'NUMERIC', mode: 'NULLABLE' },
          ],
        },
        rows: page.map(({ n, name }) => ({ f: [{ v: String(n) }, { v: name }, { v: '2026-01-31' }, { v: '12.5' }] })),
        ...(from + most < all.length && { pageToken: String(from + most) }),
      })
      return
    }
    fail(404, `Not found: ${url.pathname}`)
  })
  return {
    ...server,
    leads,
    said,
    serviceAccount: (tokenAddress) =>
      JSON.stringify({
        type: 'service_account',
        client_email: 'reader@p.iam.gserviceaccount.com',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        token_uri: tokenAddress,
      }),
  }
}
