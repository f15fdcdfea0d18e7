import type { Database } from '#platform/db/pool'
import { compileEncoder } from '#platform/http/schema'
import { type Feed, type Frame, withGaps } from '#platform/realtime/feed'
import { JOB_HINTS } from './events.ts'
import { Job } from './schema.ts'
import { findJob } from './store.ts'

const encode = compileEncoder(Job)!

type Row = { request: number; last_seq: number } & (Frame | { seq: null })

/** The progress of a batch: the current job, then job.started, .progress, .finished and .paused. */
export function jobFeed(db: Database): Feed {
  return {
    path: '/ws/jobs/:job_id',
    prefix: 'job',
    hintChannel: JOB_HINTS,

    async authorise(viewers) {
      const { rows } = await db.appPool.query<{ role: string | null }>({
        name: 'roles_in_jobs',
        text: 'select role from roles_in_jobs($1, $2, $3)',
        values: [
          viewers.map(({ user_id }) => user_id),
          viewers.map(({ workspace_id }) => workspace_id),
          viewers.map(({ resource }) => resource),
        ],
      })
      return rows.map(({ role }) => (role === null ? 'gone' : role === '' ? 'withdrawn' : 'allowed'))
    },

    snapshot: ({ workspace_id, resource }) =>
      db.tenant({ workspaceId: workspace_id, userId: null }, async (tx) => {
        // Reads the sequence number first and locks the row: later changes may be reported twice, but are never
        // omitted.
        const head = await tx.maybe<{ event_seq: number }>(
          'select event_seq from enrichment_jobs where workspace_id = $1 and job_id = $2 for share',
          [workspace_id, resource],
        )
        const job = head && (await findJob(tx, workspace_id!, resource))
        return job && { seq: head.event_seq, data: encode(job) }
      }),

    async read(requests, most) {
      const { rows } = await db.appPool.query<Row>({
        name: 'read_job_feeds',
        text: 'select * from read_job_feeds($1, $2, $3)',
        values: [requests.map(({ resource }) => resource), requests.map(({ after }) => after), most],
      })
      const found = Map.groupBy(rows, ({ request }) => request)
      return requests.map(({ after }, at) => {
        const of = found.get(at + 1)
        return of ? withGaps(after, of[0]!.last_seq, of.flatMap(frameOf), most) : []
      })
    },
  }
}

function frameOf(row: Row): Frame[] {
  if (row.seq === null) return []
  const { seq, type, at, data } = row
  return [{ seq, type, at, data }]
}
