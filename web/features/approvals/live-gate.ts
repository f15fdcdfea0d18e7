import { useEffect, useState } from 'react'
import { watchExecution } from '#sdk/sockets'
import { api, invalidate, queryClient, useApi } from '#web/api.ts'

const ASK_EVERY_MS = 3_000

/**
 * Returns a gate that updates as others vote. For a user who can see the execution, its socket reports changes; for an
 * approver who can see only the gate, the gate is polled while it is open.
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
