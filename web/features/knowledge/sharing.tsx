import type { Knowledge } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { SharingDialog } from '#web/sharing.tsx'

export function KnowledgeSharing({ open, onClose, base }: { open: boolean; onClose(): void; base: Knowledge }) {
  const save = useChange('updateKnowledge', {
    stale: ['getKnowledge', 'listKnowledge'],
    done: 'Sharing was saved',
    failed: 'Could not share the knowledge base',
    onDone: onClose,
  })
  return (
    <SharingDialog
      open={open}
      onClose={onClose}
      of={base}
      description="People who may read it can also search it in their workflows and assistants."
      roles={[
        { value: 'use', label: 'May read and search' },
        { value: 'edit', label: 'May also change it' },
      ]}
      pending={save.isPending}
      onSave={(shared) => save.mutate({ knowledge_id: base.knowledge_id, shared: shared as never })}
    />
  )
}
