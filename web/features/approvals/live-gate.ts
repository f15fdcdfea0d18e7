import { useEffect, useState } from 'react'
import { watchExecution } from '#sdk/sockets'
import { api, invalidate, queryClient, useApi } from '#web/api.ts'

const ASK_EVERY_MS = 3_000

/**
 * A gate as others vote on it. Anyone who sees the run is told by its socket; an approver who sees only the gate asks again
 * while it is open.
 */
export function useLiveGate(request_id: string) {
  const [told, setTold] = useState(true)
  const gate = useApi(
    'getApproval',
    { request_id },
    {
      refetchInterval: ({ state }) => (!told && state.data?.status === 'open' ? ASK_EVERY_MS : false),
    },
  )
  const execution_id = gate.data?.execution_id
  useEffect(() => {
    if (execution_id === undefined) return
    const watching = watchExecution(api, execution_id, {
      onFrame: ({ type }) => {
        if (!type.startsWith('approval.') && !type.startsWith('execution.')) return
        void queryClient.invalidateQueries({ queryKey: ['getApproval', { request_id }] })
        void invalidate('listInbox')
      },
      onState: (state) => setTold(state === 'live'),
    })
    return () => watching.close()
  }, [execution_id, request_id])
  return gate
}
