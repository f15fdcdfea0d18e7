import type { Engine } from '#engine/ports'
import type { Database } from '#platform/db/pool'
import { compileEncoder } from '#platform/http/schema'
import type { Feed, Frame } from '#platform/realtime/feed'
import { Execution } from './schema.ts'
import type { Views } from './view.ts'

const encode = compileEncoder(Execution)!

type Row = { request: number } & Frame

/** The live progress of an execution: its journal, numbered by `seq`. */
export function executionFeed({ db, engine, views }: { db: Database; engine: Engine; views: Views }): Feed {
  return {
    path: '/ws/executions/:execution_id',
    prefix: 'exe',
    hints: (wake) =>
      engine.onAppended((executionIds) => {
        for (const executionId of executionIds) wake(executionId === '*' ? '' : executionId)
      }),

    async authorise(viewers) {
      const { rows } = await db.appPool.query<{ allowed: boolean | null }>({
        name: 'watchable_executions',
        text: 'select allowed from watchable_executions($1, $2, $3)',
        values: [
          viewers.map(({ user_id }) => user_id),
          viewers.map(({ workspace_id }) => workspace_id),
          viewers.map(({ resource }) => resource),
        ],
      })
      return rows.map(({ allowed }) => (allowed === null ? 'gone' : allowed ? 'allowed' : 'withdrawn'))
    },

    async snapshot({ workspace_id, resource }) {
      const view = workspace_id === null ? undefined : await engine.readExecution(workspace_id, resource)
      return view && { seq: view.seq, data: encode(await views.whole(view)) }
    },

    async read(requests, most) {
      const { rows } = await db.appPool.query<Row>({
        name: 'read_execution_feeds',
        text: 'select * from read_execution_feeds($1, $2, $3)',
        values: [requests.map(({ resource }) => resource), requests.map(({ after }) => after), most],
      })
      const frames: Frame[][] = requests.map(() => [])
      for (const { request, ...frame } of rows) frames[request - 1]!.push(frame)
      return frames
    },
  }
}
