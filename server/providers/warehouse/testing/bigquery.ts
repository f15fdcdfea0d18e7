import { createVerify, generateKeyPairSync } from 'node:crypto'
import { numbers, type StandIn, sendJson, serve } from './web.ts'

export type BigqueryStandIn = StandIn & { serviceAccount(tokenAddress: string): string }

const PAGE = 1_000

/** As much of Google's token endpoint and BigQuery's REST interface as the client uses. */
export async function startBigquery(): Promise<BigqueryStandIn> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const statements = new Map<string, string>()
  const server = await serve(({ method, url, headers, body }, response) => {
    if (url.pathname === '/token') {
      const assertion = new URLSearchParams(body.toString()).get('assertion') ?? ''
      const [head, claim, signature] = assertion.split('.')
      const fits = createVerify('RSA-SHA256')
        .update(`${head}.${claim}`)
        .verify(publicKey, signature ?? '', 'base64url')
      if (fits)
        sendJson(response, 200, { access_token: 'token-of-the-stand-in', expires_in: 3600, token_type: 'Bearer' })
      else sendJson(response, 400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' })
      return
    }
    const fail = (code: number, message: string): void =>
      sendJson(response, code, {
        error: { code, message, errors: [{ message, reason: 'invalidQuery', domain: 'global' }] },
      })
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
    serviceAccount: (tokenAddress) =>
      JSON.stringify({
        type: 'service_account',
        client_email: 'reader@p.iam.gserviceaccount.com',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        token_uri: tokenAddress,
      }),
  }
}
