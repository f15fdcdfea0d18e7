import { z } from 'zod'
import { viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { DEFAULT_MARKETS, DEFAULT_REGIONS, MARKETS, type Odds, REGIONS } from '#providers/odds/index'

const Query = z.strictObject({
  date: z.iso.date().describe("The league's day (America/New_York)"),
  regions: z
    .array(z.enum(REGIONS))
    .min(1)
    .max(REGIONS.length)
    .default([...DEFAULT_REGIONS] as never),
  markets: z
    .array(z.enum(MARKETS))
    .min(1)
    .max(MARKETS.length)
    .default([...DEFAULT_MARKETS] as never),
})

const OddsOfDay = z
  .object({
    date: z.string(),
    games: z.array(
      z.object({
        game_id: z.string(),
        home: z.string(),
        away: z.string(),
        starts_at: z.string(),
        bookmakers: z.array(
          z.object({
            name: z.string(),
            markets: z.array(
              z.object({
                market: z.string(),
                outcomes: z.array(z.object({ name: z.string(), price: z.number(), point: z.number().optional() })),
              }),
            ),
          }),
        ),
      }),
    ),
    provider: z.string(),
    fetched_at: z.string(),
  })
  .meta({ id: 'OddsOfDay' })

export const oddsRoutes = (odds: Odds): AnyRoute[] =>
  routes(
    'Workflows',
    { fetchOdds: ['POST', '/api/workflows/odds', viewer('workspace'), 'run'] },
    {
      fetchOdds: {
        summary: 'Odds of the NHL for a date',
        description:
          'From The Odds API; past dates from its history. Without a key 503 `provider_not_configured`. Answers are kept for a minute.',
        body: Query,
        answer: OddsOfDay,
        transaction: false,
        examples: { body: { date: '2026-01-31', regions: ['us'], markets: ['h2h'] } },
        run: (ctx, { date, regions, markets }) => odds.fetch({ date, regions, markets }, ctx.stepAside()),
      },
    },
  )
