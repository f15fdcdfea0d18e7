import type { Credential } from '#sdk/types.generated'
import { type Name, useChange } from '#web/api.ts'
import { showTestResult } from '#web/ui/test-result.ts'

const stale: Name[] = ['getCredential', 'listCredentials', 'listServiceCredentials']

/**
 * Tests a credential: by the code of its piece if it belongs to one, otherwise by a call that changes nothing. `test`
 * is null for users who may not use the credential.
 */
export function useCredentialTest({ credential_id, kind, config, role, state }: Credential) {
  const failed = 'Could not test the credential'
  const call = useChange('testCredential', { stale, onDone: showTestResult, failed })
  const ask = useChange('testServiceCredential', { stale, onDone: showTestResult, failed })
  const mayTest = role !== 'manage' && role !== 'see' && state !== 'revoked'
  const service = kind === 'piece' && typeof config.service === 'string' ? config.service : undefined
  return {
    isPending: call.isPending || ask.isPending,
    test: !mayTest
      ? null
      : () => (service === undefined ? call.mutate({ credential_id }) : ask.mutate({ service, credential_id })),
  }
}
