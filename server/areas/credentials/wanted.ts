/**
 * On whose behalf: a person, the person an execution acts for, or the workspace for what its owners chose for all of it.
 */
export type Principal = { userId: string | null } | { executionId: string; principalId?: string | null } | 'workspace'

export type Wanted = { workspaceId: string; credentialId: string; principal: Principal }
