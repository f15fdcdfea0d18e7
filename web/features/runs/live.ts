import { useEffect, useState } from 'react'
import { type Frame, watchExecution } from '#sdk/sockets'
import type { Execution } from '#sdk/types.generated'
import { api, query, queryClient, useApi } from '#web/api.ts'
import { applyFrame } from './apply-frame.ts'
import { finished } from './words.ts'

export type Connection = 'connecting' | 'live' | 'lost' | 'ended'

/** How long to collect events before reading the whole execution again. */
const SETTLE_MS = 250

/**
 * Returns the execution, updated live. Each event changes the status of its node at once; outputs, questions and gates
 * are then read from the service, so that the page shows the stored data.
 */
export function useLiveExecution(execution_id: string) {
  const execution = useApi('getExecution', { execution_id })
  const [connection, setConnection] = useState<Connection>('connecting')
  const [frames, setFrames] = useState<Frame[]>([])
  const ended = execution.data !== undefined && finished.has(execution.data.status)

  useEffect(() => {
    const { queryKey } = query('getExecution', { execution_id })
    let timer: ReturnType<typeof setTimeout> | undefined
    const readAgain = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        for (const name of ['getExecution', 'listExecutionApprovals'])
          void queryClient.invalidateQueries({ queryKey: [name, { execution_id }] })
        void queryClient.invalidateQueries({ queryKey: ['listQuestionInbox'] })
      }, SETTLE_MS)
    }
    setFrames([])
    const watching = watchExecution(api, execution_id, {
      onFrame(frame) {
        if (frame.type === 'snapshot') queryClient.setQueryData(queryKey, frame.data as Execution)
        else {
          queryClient.setQueryData<Execution>(queryKey, (now) => now && applyFrame(now, frame))
          setFrames((before) => [...before, frame])
          readAgain()
        }
      },
      onState: setConnection,
    })
    return () => {
      watching.close()
      clearTimeout(timer)
    }
  }, [execution_id])

  return { execution, connection, frames, ended }
}
