import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { Logger } from '#platform/log'
import { makePeriodicCheck } from '#platform/periodic-check'
import { nudge } from '../nudges.ts'
import type { EnginePorts } from '../ports.ts'
import type { Store } from './store.ts'
import type { CheckedWait } from './wait-store.ts'

// Compares the waits of executions with the gates, questions and children they name, some time after one of these was
// opened or ended. Repairs inconsistencies: an end is reported again, and a gate or question that no node waits for
// is closed. None should ever be found. An idle system reads one index entry every few seconds, however many
// executions wait.

const CHECK_EVERY = 5 * SECOND
const PORTION = 200

export type WaitChecks = {
  /** The number of inconsistencies that this process repaired. */
  mended(): number
  stop(): Promise<void>
}

export const startWaitChecks = (deps: {
  db: Database
  store: Store
  ports: EnginePorts
  log: Logger
  reportEnds(): void
}): WaitChecks => {
  const { db, store, ports, log } = deps
  let mended = 0
  let isStopped = false

  const repair = async ({ workspace_id, execution_id, status, faults }: CheckedWait): Promise<void> => {
    const at = { workspaceId: workspace_id, executionId: execution_id }
    log.warn({ execution_id, why: faults.map(({ why }) => why) }, 'the recorded waits of an execution are inconsistent')
    mended += 1
    if (status !== 'waiting') {
      await store.tellAgain(workspace_id, execution_id)
      deps.reportEnds()
      return
    }
    for (const { node_path, is_left } of faults) {
      if (is_left) await ports.closeAbandoned({ ...at, path: node_path })
      // Each message has its own key, so that another message can follow one that did not help.
      else
        await store.signal(workspace_id, execution_id, `check:${node_path}:${Date.now()}`, {
          type: 'check',
          nodePath: node_path,
        })
    }
    nudge(db, execution_id)
  }

  const isRight = ({ status, faults }: CheckedWait): boolean =>
    faults.length === 0 && status !== 'queued' && status !== 'running'

  const lookOnce = async (): Promise<number> => {
    const found = await store.checkWaits(PORTION)
    await store.waitsAreRight(found.filter(isRight))
    for (const wait of found) {
      // An end that is not reported yet will close what is open.
      if (wait.faults.length === 0 || (wait.status !== 'waiting' && !wait.is_told)) continue
      await repair(wait).catch((error: Error) =>
        log.warn(
          { err: error, execution_id: wait.execution_id },
          'the waits of an execution could not be repaired yet',
        ),
      )
    }
    return found.length
  }

  const look = async (): Promise<number> => {
    while (!isStopped && (await lookOnce()) === PORTION);
    mended += await store.releaseOrphans()
    await store.forgetOldPlatformWaits()
    return CHECK_EVERY
  }
  const looking = makePeriodicCheck({
    check: look,
    onError: (error) => log.warn({ err: error }, 'the waits of executions could not be checked'),
  })
  void looking.start()

  return {
    mended: () => mended,
    stop: async () => {
      isStopped = true
      await looking.stop()
    },
  }
}
