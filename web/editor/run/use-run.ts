import { useCallback, useEffect, useState } from 'react'
import type { Effects } from '#model/node-access'
import { watchExecution } from '#sdk/sockets'
import type { Execution } from '#sdk/types.generated'
import { api, newKey } from '#web/api.ts'
import type { EditorStore } from '../store.ts'

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])
export const hasEnded = (execution: Pick<Execution, 'status'>): boolean => ENDED.has(execution.status)

const READ_AFTER_MS = 100

/** The part of a draft to test: all of it, one step, or all steps up to a step. */
export type Part = { node_id: string } | { until: string } | undefined
export type TestRun = { input: unknown; part: Part; pinned: Record<string, unknown>; effects: Effects }

/** Keeps the execution shown so far for comparison. */
const keepPrevious = (store: EditorStore): void => {
  const { execution, previous } = store.get()
  store.set({ execution: null, previous: execution ?? previous })
}

/** Returns the execution that the canvas shows, followed live until it ends. */
export function useRun(workflowId: string, store: EditorStore, shown: string | undefined) {
  const [executionId, setExecutionId] = useState<string | undefined>(shown)
  const [starting, setStarting] = useState(false)

  // If the user has not started an execution, the last one is loaded for its data.
  useEffect(() => {
    if (shown !== undefined) return
    let current = true
    const read = async (): Promise<void> => {
      const { items } = await api.listExecutions({ workflow_id: workflowId, limit: 1, include_trials: 'true' })
      const last = items[0]
      if (!last || !current || store.get().execution) return
      const execution = await api.getExecution({ execution_id: last.execution_id })
      if (current && !store.get().execution) store.set({ execution })
    }
    void read().catch(() => {})
    return () => {
      current = false
    }
  }, [workflowId, store, shown])

  useEffect(() => {
    if (executionId === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let closed = false
    const read = async (): Promise<void> => {
      timer = undefined
      try {
        const execution = await api.getExecution({ execution_id: executionId })
        if (closed) return
        store.set({ execution })
        if (hasEnded(execution)) watching.close()
      } catch {
        // The socket reports when the connection is lost permanently; a failed read is followed by the next read.
      }
    }
    const watching = watchExecution(api, executionId, {
      onFrame: ({ type, data }) => {
        if (type === 'snapshot') store.set({ execution: data as Execution })
        timer ??= setTimeout(() => void read(), type === 'snapshot' ? 0 : READ_AFTER_MS)
      },
    })
    return () => {
      closed = true
      clearTimeout(timer)
      watching.close()
    }
  }, [executionId, store])

  const start = useCallback(
    async (input: unknown, versionId: string | undefined): Promise<void> => {
      setStarting(true)
      try {
        const accepted = await api.runWorkflow(
          {
            workflow_id: workflowId,
            input: input as Record<string, unknown>,
            ...(versionId !== undefined && { version_id: versionId }),
          },
          { idempotencyKey: newKey() },
        )
        keepPrevious(store)
        setExecutionId(accepted.execution_id)
      } finally {
        setStarting(false)
      }
    },
    [workflowId, store],
  )
  const tryDraft = useCallback(
    async ({ input, part, pinned, effects }: TestRun): Promise<void> => {
      setStarting(true)
      try {
        const tried = await api.tryWorkflow(
          {
            workflow_id: workflowId,
            definition: store.doc(),
            input: input as Record<string, unknown>,
            pinned,
            effects,
            ...part,
          },
          { idempotencyKey: newKey() },
        )
        keepPrevious(store)
        setExecutionId(tried.execution_id ?? undefined)
      } finally {
        setStarting(false)
      }
    },
    [workflowId, store],
  )
  return { start, tryDraft, starting, own: executionId !== undefined, hide: () => setExecutionId(undefined) }
}

export type Run = ReturnType<typeof useRun>
