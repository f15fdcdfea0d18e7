import { useEffect } from 'react'
import { api, newKey, query, queryClient, useApi } from '#web/api.ts'
import { toast } from '#web/ui/toast.tsx'
import { useWorkspaceId } from '../people/names.tsx'

// Filters of a list that this user has named, stored by the service for the workspace.

export type Filters = { [name: string]: string | undefined }
export type View<F> = { name: string; filters: F }
export type ListName = 'runs' | 'workflows'

type Change = (views: View<Record<string, string>>[]) => View<Record<string, string>>[]

export function useViews<F extends Filters>(list: ListName, readFilters: (kept: unknown) => F) {
  const { data } = useApi('getSavedViews', {}, { staleTime: 60_000 })
  const workspaceId = useWorkspaceId()
  const isRead = data !== undefined
  useEffect(() => {
    if (isRead) void moveFromBrowser(list, workspaceId)
  }, [isRead, list, workspaceId])
  const own = data?.views.filter((view) => view.list === list) ?? []
  const views: View<F>[] = own.map(({ name, filters }) => ({ name, filters: readFilters(filters) }))
  return {
    views,
    isRead,
    save: (name: string, filters: F): Promise<void> =>
      change(list, (kept) => [...kept.filter((view) => view.name !== name), { name, filters: filled(filters) }]),
    remove: (name: string): Promise<void> => change(list, (kept) => kept.filter((view) => view.name !== name)),
  }
}

const filled = (filters: Filters): Record<string, string> =>
  Object.fromEntries(Object.entries(filters).filter((one): one is [string, string] => Boolean(one[1])))

/** Changes the views. Reads them again first: another window may have saved a view since. */
async function change(list: ListName, edit: Change): Promise<void> {
  const { views } = await api.getSavedViews({})
  const edited = edit(views.filter((view) => view.list === list)).map((view) => ({ ...view, list }))
  const answer = await api.setSavedViews(
    { views: [...views.filter((view) => view.list !== list), ...edited] },
    { idempotencyKey: newKey() },
  )
  queryClient.setQueryData(query('getSavedViews', {}).queryKey, answer)
}

/** Moves views from the browser to the service: earlier releases stored them in the browser. */
async function moveFromBrowser(list: ListName, workspaceId: string): Promise<void> {
  const key = `heddle.views.${list}.${workspaceId}`
  const kept = localStorage.getItem(key)
  if (kept === null) return
  localStorage.removeItem(key)
  const found = readKept(kept)
  try {
    if (found.length > 0)
      await change(list, (views) => [
        ...found.filter(({ name }) => !views.some((view) => view.name === name)),
        ...views,
      ])
  } catch (error) {
    localStorage.setItem(key, kept)
    toast.failed('Could not move your saved views', error)
  }
}

function readKept(text: string): View<Record<string, string>>[] {
  try {
    const kept: unknown = JSON.parse(text)
    if (!Array.isArray(kept)) return []
    return kept.flatMap((one: unknown) => {
      const { name, filters } = (one ?? {}) as { name?: unknown; filters?: Filters }
      return typeof name === 'string' ? [{ name: name.slice(0, 60), filters: filled(filters ?? {}) }] : []
    })
  } catch {
    return []
  }
}
