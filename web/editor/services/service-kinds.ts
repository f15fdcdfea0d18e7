import { useMemo } from 'react'
import type { ServiceInList } from '#sdk/types.generated'
import { useAll } from '#web/api.ts'
import { wordsOf } from '#web/features/services/words.ts'
import type { Kind, KindTable } from '../kinds.ts'

// Each action of a service as a palette entry: the `service.call` node with the action already chosen.

export const SERVICE_CALL = 'service.call'

export type ServiceKind = Kind & { key: string }

export function serviceKinds(call: Kind, services: readonly ServiceInList[]): ServiceKind[] {
  return services.flatMap(({ service, title, keywords, actions, source }) =>
    actions.map((action) => ({
      ...call,
      key: `${SERVICE_CALL}/${service}/${action.name}`,
      title: `${title}: ${wordsOf({ source }, action.title)}`,
      description: wordsOf({ source }, action.description),
      keywords: [title, service, action.title, ...keywords],
      defaults: { service, action: action.name, args: {} },
    })),
  )
}

/** Returns the text of a drag from the palette: the type of a kind, or an action with its defaults. */
export const draggedText = (kind: Kind): string =>
  kind.type === SERVICE_CALL ? JSON.stringify({ title: kind.title, defaults: kind.defaults }) : kind.type

export function draggedKind(table: KindTable, text: string): Kind | undefined {
  const call = table.get(SERVICE_CALL)
  if (!text.startsWith('{') || !call) return table.get(text)
  try {
    return { ...call, ...(JSON.parse(text) as Pick<Kind, 'title' | 'defaults'>) }
  } catch {
    return undefined
  }
}

/** Returns the actions; empty until they are loaded, and if the installation has no such node. */
export function useServiceKinds(table: KindTable): readonly ServiceKind[] {
  const call = table.get(SERVICE_CALL)
  const { data } = useAll('listServices', { limit: 200 })
  return useMemo(() => (call && data ? serviceKinds(call, data) : []), [call, data])
}
