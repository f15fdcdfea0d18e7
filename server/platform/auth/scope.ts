import type { Scope, Tx } from '../db/pool.ts'
import { problem } from '../errors.ts'
import type { Context } from '../http/context.ts'

// Changes the row security of a transaction that has already started. Only for verbs that have checked the caller
// themselves: verbs that create a person, and verbs that act in the workspace of the path instead of the selected
// workspace.

export const enterScope = async (tx: Tx, scope: Scope): Promise<void> => {
  await tx.rows(
    "select set_config('app.ws', $1, true), set_config('app.user', $2, true), set_config('app.bound', $3, true)",
    [scope.workspaceId ?? '', scope.userId ?? '', scope.boundTo ?? ''],
  )
}

export const enterWorkspace = async (tx: Tx, workspaceId: string): Promise<void> => {
  await tx.rows("select set_config('app.ws', $1, true)", [workspaceId])
}

/** Refuses a key that is bound to one workspace. For resources that belong to the person rather than to a workspace. */
export function requireUnbound(ctx: Pick<Context, 'credential'>): void {
  if (ctx.credential.kind === 'api_key' && ctx.credential.workspace_id !== null)
    throw problem('forbidden', 'This key is bound to one workspace. Sign in, or use a key that is not bound.')
}
