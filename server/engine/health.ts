import type { ExecutionStatus } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'

/** The amount of work in the whole installation. Cheap enough to be read every few seconds. */
export type EngineFigures = {
  queued: number
  running: number
  waiting: number
  poison: number
  oldest_queued_s: number
  workers: { worker_id: string; alive: boolean; running: number; started_at: Date }[]
}

export type EngineHealth = EngineFigures & {
  /** The newest hundred poisoned executions. */
  poisoned: { execution_id: string; workspace_id: string; since: Date }[]
  /** The first hundred executions that are neither running nor waiting for something that exists. */
  unaccounted: { execution_id: string; workspace_id: string; status: ExecutionStatus; why: string }[]
}

/** Reads only indexes of live rows. */
export const readFigures = async (tx: Tx): Promise<EngineFigures> => {
  const counts = await tx.row<Omit<EngineFigures, 'workers'>>(
    `select
       (select count(*)::integer from executions where status = 'queued') as queued,
       (select count(*)::integer from executions where status = 'running') as running,
       (select count(*)::integer from executions where status = 'waiting') as waiting,
       (select count(*)::integer from executions where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]'
         and waiting_for @> '[{"reason": "poison"}]') as poison,
       coalesce((select extract(epoch from now() - min(due_at + coalesce(priority, 0) * interval '1 hour'))::double precision from executions
         where status = 'queued'), 0) as oldest_queued_s`,
  )
  const workers = await tx.rows<EngineFigures['workers'][number]>(
    `select w.worker_id, h.seen_at > now() - interval '5 seconds' as alive, w.started_at,
       (select count(*)::integer from executions e where e.status = 'running' and e.worker_id = w.worker_id) as running
     from workers w join heartbeats h using (worker_id) where not w.dead order by w.started_at`,
  )
  return { ...counts, workers }
}

/**
 * Also checks whether every live execution is running or waits for something that exists. This reads all waiting
 * executions.
 */
export const readHealth = (db: Database): Promise<EngineHealth> =>
  db.engine(async (tx) => {
    const figures = await readFigures(tx)
    const poisoned = await tx.rows<EngineHealth['poisoned'][number]>(
      `select execution_id, workspace_id, (waiting_for->0->>'since')::timestamptz as since from executions
       where status = 'waiting' and waiting_for @> '[{"kind": "slot"}]' and waiting_for @> '[{"reason": "poison"}]'
       order by since desc, execution_id limit 100`,
    )
    const unaccounted = await tx.rows<EngineHealth['unaccounted'][number]>(
      'select * from engine.unaccounted() limit 100',
    )
    return { ...figures, poisoned, unaccounted }
  })
