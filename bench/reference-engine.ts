import type pg from 'pg'
import { ENGINE_PLANS } from '#platform/db/session'
import { newId } from '#platform/ids'
import { openPool } from './database.ts'

// The reference for the engine: a program without graph, fence, inbox or recovery that only does group commit on the
// same tables and indexes. A start inserts the execution and its first two events, each of the five node results
// inserts two events, and the end updates the row: twelve events per execution. It writes one row for each event. The
// engine packs them into six; the reference is unchanged since the targets were set.

type Entry = { id: string; seq: number; kind: 'start' | 'node' | 'end'; done(): void }

const STATEMENT = `with started as (
    insert into executions (execution_id, workspace_id, definition_ref, status, input, trigger_kind, started_at, worker_id)
    select id, $1, 'adhoc:plain', 'running', '{"value":7}', 'user', now(), $2 from unnest($3::uuid[]) as id),
  added as (
    insert into events (execution_id, seq, workspace_id, at, type, data)
    select id, seq, $1, now(), type, data::json from unnest($4::uuid[], $5::integer[], $6::text[], $7::text[]) as r (id, seq, type, data)),
  moved as (
    update executions e set status = 'succeeded', worker_id = null, finished_at = now(), results = '7'
    from unnest($8::uuid[], $9::uuid[]) as r (workspace_id, id)
    where e.workspace_id = r.workspace_id and e.execution_id = r.id)
  select 1`

const NODES = 5

export const makeReferenceEngine = (url: string) => {
  const pool = openPool({
    connectionString: url,
    max: 2,
    pipeline: true,
    options: `-c plan_cache_mode=force_generic_plan ${ENGINE_PLANS}`,
  } as pg.PoolConfig)
  const workspaceId = newId()
  const workerId = newId()
  let queue: Entry[] = []
  let free = 2
  let scheduled = false

  const send = async (batch: Entry[]): Promise<void> => {
    const starts: string[] = []
    const ends: string[] = []
    const ids: string[] = []
    const seqs: number[] = []
    const types: string[] = []
    const texts: string[] = []
    for (const { id, seq, kind } of batch) {
      const node = (seq - 1) >> 1
      const before = kind === 'start' ? 'execution.started' : 'node.succeeded'
      const after = kind === 'end' ? 'execution.succeeded' : 'node.started'
      if (kind === 'start') starts.push(id)
      if (kind === 'end') ends.push(id)
      ids.push(id, id)
      seqs.push(seq, seq + 1)
      types.push(before, after)
      texts.push(
        JSON.stringify(
          kind === 'start'
            ? { trigger: { kind: 'user', id: null } }
            : { node_id: `n${node - 1}`, attempt: 1, output: 7 },
        ),
        JSON.stringify(kind === 'end' ? { results: 7 } : { node_id: `n${node}`, attempt: 1 }),
      )
    }
    await pool.query({
      name: 'plain',
      text: STATEMENT,
      values: [workspaceId, workerId, starts, ids, seqs, types, texts, ends.map(() => workspaceId), ends],
    })
    for (const entry of batch) entry.done()
  }

  const lane = async (): Promise<void> => {
    free -= 1
    while (queue.length > 0) {
      const batch = queue.slice(0, 256)
      queue = queue.slice(256)
      await send(batch)
    }
    free += 1
  }

  const append = (id: string, seq: number, kind: Entry['kind']): Promise<void> =>
    new Promise((resolve) => {
      queue.push({ id, seq, kind, done: resolve })
      if (scheduled || free === 0) return
      scheduled = true
      setImmediate(() => {
        scheduled = false
        if (free > 0 && queue.length > 0) void lane()
      })
    })

  return {
    execute: async (): Promise<void> => {
      const id = newId()
      await append(id, 1, 'start')
      for (let node = 1; node <= NODES; node += 1) await append(id, 1 + node * 2, node === NODES ? 'end' : 'node')
    },
    stop: () => pool.end(),
  }
}
