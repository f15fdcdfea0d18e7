// The Odds API, version 4: https://the-odds-api.com/liveapi/guides/v4/

import { z } from 'zod'
import { type Clock, MINUTE, SECOND, systemClock } from '#platform/clock'
import { invalid, isProblem, type Problem, problem } from '#platform/errors'
import { makeBoundedFetch } from '#platform/outgoing/bounded'
import { OutgoingFailure } from '#platform/outgoing/failure'
import {
  DEFAULT_MARKETS,
  DEFAULT_REGIONS,
  MARKETS,
  type Odds,
  type OddsAnswer,
  type OddsGame,
  type OddsQuery,
  REGIONS,
} from './index.ts'
import { isDate, leagueDayOf, leagueTime, nextDay } from './league-day.ts'

export type OddsApiOptions = {
  key: string | null
  /** Does not include `/v4`. The operator sets the address, so it may be private. */
  base: string
  clock?: Clock
  timeoutMs?: number
}

const SPORT = 'icehockey_nhl'
const NOT_CONFIGURED = 'Set ODDS_API_KEY to use The Odds API.'
const CACHE_FOR = MINUTE
const MAX_CACHED = 200
const MAX_BYTES = 5 * 1024 * 1024
/**
 * The history is a series of snapshots. At this hour in New York, all games of the day are priced and none has started.
 */
const SNAPSHOT_HOUR = 7

const Event = z.object({
  id: z.string(),
  commence_time: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
  home_team: z.string().nullable(),
  away_team: z.string().nullable(),
  bookmakers: z
    .array(
      z.object({
        title: z.string(),
        markets: z.array(
          z.object({
            key: z.string(),
            outcomes: z.array(z.object({ name: z.string(), price: z.number(), point: z.number().optional() })),
          }),
        ),
      }),
    )
    .default([]),
})
const Current = z.array(Event)
const Historical = z.object({ data: z.array(Event) })

type Wanted = { date: string; regions: string[]; markets: string[] }

export function makeTheOddsApi({ key, base, clock = systemClock, timeoutMs = 15 * SECOND }: OddsApiOptions): Odds {
  const cache = new Map<string, { until: number; answer: Promise<OddsAnswer> }>()

  const load = async (wanted: Wanted): Promise<OddsAnswer> => {
    const now = clock.now()
    const isPast = wanted.date < leagueDayOf(now)
    const url = isPast ? historicalAddress(base, wanted) : currentAddress(base, wanted)
    url.searchParams.set('apiKey', key ?? '')
    const body = await ask(url, timeoutMs)
    const parsed = isPast ? Historical.safeParse(body) : Current.safeParse(body)
    if (!parsed.success) throw unavailable('The response of the odds provider has an unknown format.')
    const events = Array.isArray(parsed.data) ? parsed.data : parsed.data.data
    return {
      date: wanted.date,
      games: events.map(toGame).filter((game) => leagueDayOf(new Date(game.starts_at)) === wanted.date),
      provider: 'the-odds-api',
      fetched_at: now.toISOString(),
    }
  }

  return {
    unavailable: () => (key === null ? NOT_CONFIGURED : null),
    async fetch(query, signal) {
      const wanted = checkQuery(query)
      if (key === null) throw problem('provider_not_configured', NOT_CONFIGURED)
      const name = JSON.stringify(wanted)
      const now = clock.now().getTime()
      const known = cache.get(name)
      if (known && known.until > now) return abortable(known.answer, signal)
      const answer = load(wanted)
      cache.delete(name)
      cache.set(name, { until: now + CACHE_FOR, answer })
      if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value as string)
      // A failure is not cached: the next caller tries again.
      answer.catch(() => cache.get(name)?.answer === answer && cache.delete(name))
      return abortable(answer, signal)
    },
  }
}

/** Lets one caller abort without failing the other callers that wait for the same response. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  signal.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

function checkQuery({ date, regions, markets }: OddsQuery): Wanted {
  const errors: { path: string; message: string }[] = []
  if (!isDate(date)) errors.push({ path: '/date', message: 'must be a date such as 2026-01-31' })
  const choose = (
    given: string[] | undefined,
    fallback: string[],
    known: readonly string[],
    path: string,
  ): string[] => {
    const chosen = given === undefined || given.length === 0 ? fallback : given
    for (const [index, value] of chosen.entries()) {
      if (!known.includes(value))
        errors.push({ path: `${path}/${index}`, message: `must be one of ${known.join(', ')}` })
    }
    return [...new Set(chosen)]
  }
  const wanted = {
    date,
    regions: choose(regions, DEFAULT_REGIONS, REGIONS, '/regions'),
    markets: choose(markets, DEFAULT_MARKETS, MARKETS, '/markets'),
  }
  if (errors.length > 0) throw invalid(errors)
  return wanted
}

/** Formats a time in whole seconds, because the provider refuses fractions. */
const stamp = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`

function currentAddress(base: string, wanted: Wanted): URL {
  const url = address(base, `/v4/sports/${SPORT}/odds`, wanted)
  url.searchParams.set('commenceTimeFrom', stamp(leagueTime(wanted.date)))
  url.searchParams.set('commenceTimeTo', stamp(new Date(leagueTime(nextDay(wanted.date)).getTime() - SECOND)))
  return url
}

function historicalAddress(base: string, wanted: Wanted): URL {
  const url = address(base, `/v4/historical/sports/${SPORT}/odds`, wanted)
  url.searchParams.set('date', stamp(leagueTime(wanted.date, SNAPSHOT_HOUR)))
  return url
}

function address(base: string, path: string, wanted: Wanted): URL {
  const url = new URL(`${base.replace(/\/+$/, '')}${path}`)
  url.searchParams.set('regions', wanted.regions.join(','))
  url.searchParams.set('markets', wanted.markets.join(','))
  url.searchParams.set('oddsFormat', 'decimal')
  url.searchParams.set('dateFormat', 'iso')
  return url
}

const unavailable = (detail: string, retryAfterS = 60): Problem =>
  problem('provider_unavailable', detail, { retryAfterS })

/** Sends a request. Errors never contain the address, because the address contains the key. */
async function ask(url: URL, timeoutMs: number): Promise<unknown> {
  try {
    const send = makeBoundedFetch({ maxBytes: MAX_BYTES, timeoutMs })
    const answer = await send(url, { headers: { accept: 'application/json' } })
    const text = await answer.text()
    if (answer.status === 200) return JSON.parse(text)
    throw refusal(answer.status, errorCode(text), Number(answer.headers.get('retry-after') ?? 0))
  } catch (error) {
    if (isProblem(error)) throw error
    if (error instanceof OutgoingFailure && error.code === 'response_too_large')
      throw unavailable('The response of the odds provider is too large.')
    throw unavailable('The odds provider did not answer as expected.')
  }
}

function errorCode(text: string): string {
  try {
    const { error_code: code } = JSON.parse(text) as { error_code?: unknown }
    return typeof code === 'string' ? code : ''
  } catch {
    return ''
  }
}

function refusal(status: number, code: string, retryAfterS: number): Problem {
  if (code === 'OUT_OF_USAGE_CREDITS') {
    return unavailable(
      'The quota of the odds provider is used up; wait for the next period or choose a larger plan.',
      3_600,
    )
  }
  if (code.startsWith('HISTORICAL_UNAVAILABLE')) {
    return unavailable('The plan of the odds provider has no history; choose a larger plan.', 3_600)
  }
  if (status === 401 || status === 403) return unavailable('The odds provider refuses the key in ODDS_API_KEY.', 3_600)
  if (status === 429)
    return unavailable('The odds provider refuses more requests at the moment.', retryAfterS > 0 ? retryAfterS : 5)
  return unavailable(`The odds provider answered ${status}.`)
}

function toGame(event: z.infer<typeof Event>): OddsGame {
  return {
    game_id: event.id,
    home: event.home_team ?? '',
    away: event.away_team ?? '',
    starts_at: new Date(event.commence_time).toISOString(),
    bookmakers: event.bookmakers.map((bookmaker) => ({
      name: bookmaker.title,
      markets: bookmaker.markets.map(({ key, outcomes }) => ({
        market: key,
        outcomes: outcomes.map(({ name, price, point }) =>
          point === undefined ? { name, price } : { name, price, point },
        ),
      })),
    })),
  }
}
