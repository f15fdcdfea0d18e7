import { recordAudit } from '#platform/audit'
import type { Tx } from '#platform/db/pool'
import type { Context } from '#platform/http/context'
import { shippedPrices } from '#providers/llm/prices'
import type { NewPrices, Prices } from './schema.ts'

// The prices of models. The operator's price takes precedence over the shipped price.

type Row = { model: string; input: number; output: number; updated_at: Date }

async function readPrices(tx: Tx): Promise<Prices> {
  const rows = await tx.rows<Row>(
    `select model, input::double precision as input, output::double precision as output, updated_at from model_prices order by model`,
  )
  return {
    currency: shippedPrices.currency,
    prices: rows.map(({ model, input, output }) => ({ model, input, output })),
    shipped: shippedPrices.models,
    shipped_as_of: shippedPrices.as_of,
    updated_at: rows.reduce<Date | null>(
      (latest, { updated_at }) => (latest && latest > updated_at ? latest : updated_at),
      null,
    ),
  }
}

export const getPrices = (ctx: Context): Promise<Prices> => ctx.db.operator(readPrices)

export const putPrices = (ctx: Context, { prices }: NewPrices): Promise<Prices> =>
  ctx.db.operator(async (tx) => {
    // Serializes simultaneous requests of operators. The last one sets all prices.
    await tx.rows(`select pg_advisory_xact_lock(hashtextextended('model_prices', 0))`)
    await tx.count('delete from model_prices where not model = any($1)', [prices.map(({ model }) => model)])
    await tx.count(
      `insert into model_prices as p (model, input, output) select * from unnest($1::text[], $2::numeric[], $3::numeric[])
       on conflict (model) do update set input = excluded.input, output = excluded.output, updated_at = now()
         where (p.input, p.output) is distinct from (excluded.input, excluded.output)`,
      [prices.map(({ model }) => model), prices.map(({ input }) => input), prices.map(({ output }) => output)],
    )
    await recordAudit(ctx, tx, { action: 'model_prices.set', data: { prices: prices.length }, workspaceId: null })
    return readPrices(tx)
  })
