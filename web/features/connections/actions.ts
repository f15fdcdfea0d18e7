import type { Connection } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { toast } from '#web/ui/toast.tsx'

export const useVerify = () =>
  useChange('verifyConnection', {
    stale: ['listConnections'],
    onDone: ({ status, problem }) =>
      status === 'active'
        ? toast.done('The connection works')
        : toast.failed('The connection fails', problem ? new Error(problem.message) : undefined),
    failed: 'Could not test the connection',
  })

export const useRevoke = () =>
  useChange('revokeConnection', { stale: ['listConnections', 'listJobs'], done: 'The credential was erased' })

/** The confirmation before the credential of a connection is erased. */
export const revocationOf = ({ name }: Connection) => ({
  title: `Revoke ${name}?`,
  consequence:
    'The stored secret is erased permanently. The connection and its sources are kept. Jobs that use it pause, workflows that query it fail, and their owners are notified. Store a new credential to resume.',
  action: 'Revoke credential',
})
