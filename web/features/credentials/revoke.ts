import type { Credential } from '#sdk/types.generated'

/** The confirmation before the secret of a credential is erased. */
export const revocationOf = ({ name }: Credential) => ({
  title: `Revoke ${name}?`,
  consequence:
    'The stored secret is erased permanently. Workflows that name it fail and jobs that use it pause, until somebody stores a new secret.',
  action: 'Revoke credential',
})
