import { recordAudit } from './audit.ts'
import type { Tx } from './db/pool.ts'
import type { Context } from './http/context.ts'

/** Runs one of the listings whose access is "operators: all". Writes an audit entry in the same transaction. */
export const listAsOperator = <T>(ctx: Context, listing: string, read: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx.db.operator(async (tx) => {
    const found = await read(tx)
    await recordAudit(ctx, tx, { action: 'operator.listed', subject: listing, workspaceId: null })
    return found
  })
