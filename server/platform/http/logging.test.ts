import { request } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { callAt } from '#test/harness/call'
import { useSharedService } from '#test/harness/service'
import { anyone } from '../access/rules.ts'
import { makeIdentifier } from '../auth/identify.ts'
import { problem } from '../errors.ts'
import { addRoutes } from './kernel.ts'
import { routes } from './route.ts'
import { makeHttp } from './server.ts'

// Tests which failures an operator finds in the log.

const service = useSharedService()
const lines: { level: number; msg: string; operation?: string; err?: { stack: string } }[] = []
const answer = z.object({})
const table = routes(
  'Operations',
  {
    unconfigured: ['POST', '/api/unconfigured', anyone],
    unreachable: ['POST', '/api/unreachable', anyone],
    broken: ['POST', '/api/broken', anyone],
    refused: ['POST', '/api/refused', anyone],
  },
  {
    unconfigured: {
      summary: 'Needs a provider that nobody set up',
      answer,
      run: async () => {
        throw problem('provider_not_configured', 'Set ODDS_API_KEY.')
      },
    },
    unreachable: {
      summary: 'Needs a provider that is away',
      answer,
      run: async () => {
        throw problem('provider_unavailable')
      },
    },
    broken: {
      summary: 'Has a fault',
      answer,
      run: async () => {
        throw new TypeError('nothing here')
      },
    },
    refused: {
      summary: 'Refuses',
      answer,
      run: async () => {
        throw problem('conflict')
      },
    },
  },
)

/** The statuses of all responses, also of those that nobody receives. */
const answered: number[] = []
let base: string
let close: () => Promise<void>
beforeAll(async () => {
  const { config, db, vault } = service()
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const kernel = {
    config,
    db,
    vault,
    log,
    identifier: makeIdentifier({ db, operators: [] }),
    accessLevels: {} as never,
    tokens: {},
    baseUrl: () => base,
    checkAnswers: true,
    onAnswered: (_route: unknown, status: number) => void answered.push(status),
  }
  const http = makeHttp(kernel)
  addRoutes(http, table, kernel)
  base = await http.listen({ host: '127.0.0.1', port: 0 })
  close = () => http.close()
})
afterAll(() => close())
beforeEach(() => {
  lines.length = 0
})

const ERROR = 50

test.each([
  ['a provider that is not configured', '/api/unconfigured', 503],
  ['a refusal', '/api/refused', 409],
])('%s is not logged as an error', async (_what, path, status) => {
  expect((await callAt(base, 'POST', path)).status).toBe(status)
  expect(lines.filter(({ level }) => level >= ERROR)).toEqual([])
})

test('a caller that closes the connection before the end of the body is not logged as an error', async () => {
  answered.length = 0
  const call = request(`${base}/api/refused`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-length': 2 },
  })
  call.on('error', () => {})
  call.write('{', () => setImmediate(() => call.destroy()))
  await expect.poll(() => answered).toEqual([400])
  expect(lines.filter(({ level }) => level >= ERROR)).toEqual([])
})

test.each([
  ['an unreachable provider', '/api/unreachable', 503, 'unreachable'],
  ['an internal error', '/api/broken', 500, 'broken'],
])('%s is logged as an error, with its operation and its stack', async (_what, path, status, operation) => {
  expect((await callAt(base, 'POST', path)).status).toBe(status)
  const errors = lines.filter(({ level }) => level >= ERROR)
  expect(errors.map((line) => line.operation)).toEqual([operation])
  expect(errors[0]!.err!.stack).toContain('logging.test.ts')
})
