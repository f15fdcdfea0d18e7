import { useQuery } from '@tanstack/react-query'
import type { Me, OwnWorkspace } from '#sdk/types.generated'
import { account, enterWorkspace, queryClient } from './api.ts'
import { isRefusal } from './ui/messages.ts'

// Who is signed in, and the workspace this tab shows.

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

/** null: nobody is signed in. */
export const useMaybeMe = () => useQuery(meQuery)

/** Inside the shell somebody always is. */
export function useMe(): Person {
  const { data } = useMaybeMe()
  if (!data) throw new Error('useMe outside the shell')
  return data
}

/** What the role in this workspace allows: what it does not is not offered. */
export function useRole() {
  const { workspace, operator, user } = useMe()
  const role = workspace?.role ?? 'guest'
  return {
    role,
    operator,
    userId: user.user_id,
    isOwner: role === 'owner',
    /** Creates and changes things. */
    canWrite: role === 'owner' || role === 'member',
    /** Guests see only what they were invited to. */
    isGuest: role === 'guest',
  }
}

const isOther = ({ queryKey }: { queryKey: readonly unknown[] }): boolean => queryKey[0] !== meQuery.queryKey[0]

/**
 * After signing in or out, or in another workspace, nothing that was fetched holds any more. Who one is stays in the cache while
 * it is asked again: were it taken away, the shell would go on with the old answer until something else made it look.
 */
export async function begin(): Promise<void> {
  queryClient.removeQueries({ predicate: isOther })
  await queryClient.fetchQuery({ ...meQuery, staleTime: 0 })
  queryClient.removeQueries({ predicate: isOther })
}

export async function switchWorkspace(workspaceId: string): Promise<void> {
  await account.selectWorkspace({ workspace_id: workspaceId })
  await begin()
}
