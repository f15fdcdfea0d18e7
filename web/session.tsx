import { useQuery } from '@tanstack/react-query'
import type { Me, OwnWorkspace } from '#sdk/types.generated'
import { account, enterWorkspace, queryClient } from './api.ts'
import { isRefusal } from './ui/messages.ts'

// The signed-in user, and the workspace that this tab shows.

export type Person = Me & { workspace: OwnWorkspace | null }

const readMe = async (): Promise<Person | null> => {
  try {
    const me = await account.getMe()
    const workspace =
      me.workspaces.find(({ workspace_id }) => workspace_id === me.selected_workspace_id) ?? me.workspaces[0] ?? null
    enterWorkspace(workspace?.workspace_id ?? null)
    return { ...me, workspace }
  } catch (error) {
    if (isRefusal(error, 401)) return null
    throw error
  }
}

export const meQuery = { queryKey: ['getMe'], queryFn: readMe, staleTime: Number.POSITIVE_INFINITY }

/** Returns null if no user is signed in. */
export const useMaybeMe = () => useQuery(meQuery)

/** Returns the user. Inside the shell a user is always signed in. */
export function useMe(): Person {
  const { data } = useMaybeMe()
  if (!data) throw new Error('useMe outside the shell')
  return data
}

/** Returns what the role in this workspace allows: other actions are not offered. */
export function useRole() {
  const { workspace, operator, user } = useMe()
  const role = workspace?.role ?? 'guest'
  return {
    role,
    operator,
    userId: user.user_id,
    isOwner: role === 'owner',
    /** The user may create and change resources. */
    canWrite: role === 'owner' || role === 'member',
    /** Guests see only what they were invited to. */
    isGuest: role === 'guest',
  }
}

const isOther = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => queryKey[0] !== meQuery.queryKey[0]

/**
 * Clears all fetched data after signing in or out, or switching the workspace. The current user stays in the cache
 * during the refetch: without it, the shell would keep the old response until something else caused an update.
 */
export async function resetSession(): Promise<void> {
  queryClient.removeQueries({ predicate: isOther })
  await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
  queryClient.removeQueries({ predicate: isOther })
}

export async function switchWorkspace(workspaceId: string): Promise<void> {
  await account.selectWorkspace({ workspace_id: workspaceId })
  await resetSession()
}
