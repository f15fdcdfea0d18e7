import { NodeFailure, type NodeKind } from '#engine/node'
import type { Json } from '#model/definition'
import { isProblem } from '#platform/errors'
import { MARKETS, type Odds, REGIONS } from '#providers/odds/index'
import { checked, fields } from './kind.ts'

const listOf = (title: string, values: readonly string[], fallback: string): { [key: string]: Json } => ({
  type: 'array',
  title,
  items: { enum: [...values] },
  uniqueItems: true,
  default: [fallback],
})

const texts = (value: Json | undefined): string[] | undefined => (Array.isArray(value) ? value.map(String) : undefined)

export const makeOddsFetch = ({ odds }: { odds: Odds }): NodeKind =>
  checked({
    descriptor: {
      type: 'odds.fetch',
      kind: 'tool',
      group: 'data',
      title: 'NHL odds',
      description: 'Reads the betting odds of the NHL games of one day (New York time) from The Odds API.',
      icon: 'trophy',
      colour: '#15803d',
      keywords: ['sports', 'hockey', 'betting', 'nhl', 'odds'],
      args_schema: fields(
        {
          date: { type: 'string', format: 'date', title: 'Date', description: 'The game day in New York time' },
          regions: listOf('Regions', REGIONS, 'us'),
          markets: listOf('Markets', MARKETS, 'h2h'),
        },
        ['date'],
      ),
      output_schema: {
        type: 'object',
        properties: {
          date: { type: 'string' },
          games: { type: 'array', items: { type: 'object' } },
          provider: { type: 'string' },
          fetched_at: { type: 'string' },
        },
      },
      ports: ['out'],
      effect: 'pure',
      defaults: { date: { $ref: 'input.date' } },
    },
    unavailable: () => odds.unavailable(),
    async run({ args, signal }) {
      try {
        const answer = await odds.fetch(
          { date: String(args.date), regions: texts(args.regions), markets: texts(args.markets) },
          signal,
        )
        return { output: answer as unknown as Json }
      } catch (error) {
        if (!isProblem(error)) throw error
        throw new NodeFailure(error.code, error.message, { retryable: error.code === 'provider_unavailable' })
      }
    },
  })
