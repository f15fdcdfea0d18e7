/**
 * Whose rights are used: a person's, those of the person for whom an execution acts, or the workspace's for the
 * credentials that its owners chose for everyone.
 */
export type Principal = { userId: string | null } | { executionId: string; principalId?: string | null } | 'workspace'

export type CredentialRequest = { workspaceId: string; credentialId: string; principal: Principal }
