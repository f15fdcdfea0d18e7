import type { Knowledge } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { deletionOf } from './deletion.ts'

export function BaseMenu({ base }: { base: Knowledge }) {
  const { isOwner } = useRole()
  const { knowledge_id, name, role } = base
  const remove = useChange('deleteKnowledge', { stale: ['listKnowledge'], done: 'The knowledge base was deleted' })
  const mayDelete = role === 'owner' || isOwner
  return (
    <RowMenu
      name={name}
      path={`/knowledge/${knowledge_id}`}
      removal={mayDelete && { ...deletionOf(base), onConfirm: () => remove.mutateAsync({ knowledge_id }) }}
    />
  )
}
