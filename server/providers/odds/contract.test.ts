import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isProblem } from '#platform/errors'
import type { Odds } from './index.ts'
import { leagueDayOf, leagueTime } from './league-day.ts'
import { makeTheOddsApi } from './the-odds-api.ts'

const KEY = 'secret-odds-key'
let server: Server
let base: string
let requests: URL[] = []
let reply: { status: number; body: unknown; headers?: Record<string, string> } | undefined
let now = new Date('2026-01-15T20:00:00Z')
let odds: Odds

const event = (id: string, startsAt: string) => ({
  id,
  sport_key: 'icehockey_nhl',
  sport_title: 'NHL',
  commence_time: startsAt,
  home_team: 'Boston Bruins',
  away_team: 'New York Rangers',
  bookmakers: [
    {
      key: 'draftkings',
      title: 'DraftKings',
      last_update: startsAt,
      markets: [
        { key: 'spreads', last_update: startsAt, outcomes: [{ name: 'Boston Bruins', price: 2.4, point: -1.5 }] },
        {
          key: 'h2h',
          outcomes: [
            { name: 'Boston Bruins', price: 1.8 },
            { name: 'New York Rangers', price: 2.05 },
          ],
        },
      ],
    },
  ],
})
const RFC3339_SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** Simulates the provider strictly: refuses every request that the provider would refuse. */
function judge(url: URL): { status: number; body: unknown; headers?: Record<string, string> } {
  const refuse = (code: string, status = 422) => ({ status, body: { message: code, error_code: code } })
  const query = url.searchParams
  if (query.get('apiKey') !== KEY) return refuse('INVALID_KEY', 401)
  const historical = url.pathname === '/v4/historical/sports/icehockey_nhl/odds'
  if (!historical && url.pathname !== '/v4/sports/icehockey_nhl/odds')
    return { status: 404, body: { message: 'Not found' } }
  const known = [
    'apiKey',
    'regions',
    'markets',
    'oddsFormat',
    'dateFormat',
    ...(historical ? ['date'] : ['commenceTimeFrom', 'commenceTimeTo']),
  ]
  for (const name of query.keys()) if (!known.includes(name)) return refuse(`UNKNOWN_${name}`)
  for (const region of (query.get('regions') ?? '').split(','))
    if (!['us', 'eu', 'uk'].includes(region)) return refuse('INVALID_REGION')
  for (const market of (query.get('markets') ?? '').split(','))
    if (!['h2h', 'spreads', 'totals'].includes(market)) return refuse('INVALID_MARKET')
  if (query.get('oddsFormat') !== 'decimal' || query.get('dateFormat') !== 'iso') return refuse('INVALID_FORMAT')
  const times = historical ? ['date'] : ['commenceTimeFrom', 'commenceTimeTo']
  for (const name of times) if (!RFC3339_SECONDS.test(query.get(name) ?? '')) return refuse('INVALID_TIME')
  if (reply) return reply
  const data = [
    event('late', '2026-01-16T03:00:00Z'),
    event('next-day', '2026-01-16T18:00:00Z'),
    event('old', '2025-11-01T23:00:00Z'),
  ]
  return {
    status: 200,
    body: historical ? { timestamp: 'x', previous_timestamp: null, next_timestamp: null, data } : data,
  }
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://x')
    requests.push(url)
    const { status, body, headers } = judge(url)
    response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  requests = []
  reply = undefined
  now = new Date('2026-01-15T20:00:00Z')
  odds = makeTheOddsApi({ key: KEY, base, clock: { now: () => now } })
})

describe('odds', () => {
  it('contain the games that start on the league day', async () => {
    expect(await odds.fetch({ date: '2026-01-15', regions: ['us', 'eu'], markets: ['h2h', 'spreads'] })).toEqual({
      date: '2026-01-15',
      games: [
        {
          game_id: 'late',
          home: 'Boston Bruins',
          away: 'New York Rangers',
          starts_at: '2026-01-16T03:00:00.000Z',
          bookmakers: [
            {
              name: 'DraftKings',
              markets: [
                { market: 'spreads', outcomes: [{ name: 'Boston Bruins', price: 2.4, point: -1.5 }] },
                {
                  market: 'h2h',
                  outcomes: [
                    { name: 'Boston Bruins', price: 1.8 },
                    { name: 'New York Rangers', price: 2.05 },
                  ],
                },
              ],
            },
          ],
        },
      ],
      provider: 'the-odds-api',
      fetched_at: '2026-01-15T20:00:00.000Z',
    })
    expect(requests[0]?.searchParams.get('commenceTimeFrom')).toBe('2026-01-15T05:00:00Z')
    expect(requests[0]?.searchParams.get('commenceTimeTo')).toBe('2026-01-16T04:59:59Z')
  })

  it('for past days come from the history', async () => {
    const answer = await odds.fetch({ date: '2025-11-01' })
    expect(requests[0]?.pathname).toBe('/v4/historical/sports/icehockey_nhl/odds')
    expect(requests[0]?.searchParams.get('date')).toBe('2025-11-01T11:00:00Z')
    expect(answer.games.map(({ game_id }) => game_id)).toEqual(['old'])
  })

  it('for a day count as current until midnight in New York', async () => {
    now = new Date('2026-01-16T04:30:00Z')
    await odds.fetch({ date: '2026-01-15' })
    now = new Date('2026-01-16T05:30:00Z')
    await odds.fetch({ date: '2026-01-15' })
    expect(requests.map(({ pathname }) => pathname.includes('historical'))).toEqual([false, true])
  })

  it('are requested once a minute for all callers together', async () => {
    await Promise.all(Array.from({ length: 5 }, () => odds.fetch({ date: '2026-01-15' })))
    now = new Date(now.getTime() + 59_000)
    await odds.fetch({ date: '2026-01-15', regions: ['us'], markets: ['h2h'] })
    expect(requests).toHaveLength(1)
    now = new Date(now.getTime() + 2_000)
    await odds.fetch({ date: '2026-01-15' })
    await odds.fetch({ date: '2026-01-15', markets: ['totals'] })
    expect(requests).toHaveLength(3)
  })

  it.each([
    ['the quota is used up', { status: 401, body: { error_code: 'OUT_OF_USAGE_CREDITS' } }, 'quota'],
    ['the key is wrong', { status: 401, body: { error_code: 'INVALID_KEY' } }, 'ODDS_API_KEY'],
    [
      'the plan has no history',
      { status: 401, body: { error_code: 'HISTORICAL_UNAVAILABLE_ON_FREE_USAGE_PLAN' } },
      'history',
    ],
    ['we ask too often', { status: 429, body: {}, headers: { 'retry-after': '7' } }, 'refuses more requests'],
    ['the provider fails', { status: 500, body: 'oops' }, '500'],
    ['the answer is no JSON', { status: 200, body: '<html>' }, 'expected'],
    ['the answer has another form', { status: 200, body: { games: [] } }, 'form'],
  ])('fail when %s, without revealing the key, and are requested again the next time', async (_name, given, word) => {
    reply = given
    const error = await odds.fetch({ date: '2026-01-15' }).catch((reason: unknown) => reason)
    expect(isProblem(error, 'provider_unavailable')).toBe(true)
    expect((error as Error).message).toContain(word)
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error as object))).not.toContain(KEY)
    reply = undefined
    expect((await odds.fetch({ date: '2026-01-15' })).games).toHaveLength(1)
  })

  it('require a key and a valid query', async () => {
    const without = makeTheOddsApi({ key: null, base })
    expect(without.unavailable()).toContain('ODDS_API_KEY')
    await expect(without.fetch({ date: '2026-01-15' })).rejects.toMatchObject({ code: 'provider_not_configured' })
    await expect(odds.fetch({ date: '2026-02-30' })).rejects.toMatchObject({
      code: 'invalid',
      errors: [{ path: '/date' }],
    })
    await expect(odds.fetch({ date: '2026-01-15', regions: ['us', 'mars'] })).rejects.toMatchObject({
      errors: [{ path: '/regions/1' }],
    })
    expect(requests).toEqual([])
  })

  it('fail with a retry time when the provider is unreachable', async () => {
    const gone = makeTheOddsApi({ key: KEY, base: 'http://127.0.0.1:1', timeoutMs: 1_000 })
    await expect(gone.fetch({ date: '2026-01-15' })).rejects.toMatchObject({
      code: 'provider_unavailable',
      retryAfterS: 60,
    })
  })
})

describe('the league day', () => {
  it('follows the time zone of New York', () => {
    expect(leagueTime('2026-01-15').toISOString()).toBe('2026-01-15T05:00:00.000Z')
    expect(leagueTime('2026-07-15').toISOString()).toBe('2026-07-15T04:00:00.000Z')
    expect(leagueTime('2026-03-08', 7).toISOString()).toBe('2026-03-08T11:00:00.000Z')
    expect(leagueTime('2026-11-01').toISOString()).toBe('2026-11-01T04:00:00.000Z')
    expect(leagueTime('2026-11-02').toISOString()).toBe('2026-11-02T05:00:00.000Z')
    expect(leagueDayOf(new Date('2026-01-15T04:59:59Z'))).toBe('2026-01-14')
  })
})
