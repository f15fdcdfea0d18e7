import { useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, Share2, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Knowledge } from '#sdk/types.generated'
import { useApi, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { plural } from '#web/ui/format.ts'
import { LoadedPage } from '#web/ui/loaded-page.tsx'
import { Page } from '#web/ui/page.tsx'
import { deletionOf } from './deletion.ts'
import { Documents } from './documents.tsx'
import { BaseForm } from './form.tsx'
import { SearchPreview } from './search.tsx'
import { KnowledgeSharing } from './sharing.tsx'

const LOOK_AGAIN_MS = 2_000

export function BasePage() {
  const { knowledge_id } = useParams({ strict: false }) as { knowledge_id: string }
  const base = useApi(
    'getKnowledge',
    { knowledge_id },
    { refetchInterval: ({ state }) => ((state.data?.waiting_count ?? 0) > 0 ? LOOK_AGAIN_MS : false) },
  )
  return (
    <LoadedPage
      of={base}
      what="the knowledge base"
      title="Knowledge base"
      crumbs={[{ label: 'Knowledge', to: '/knowledge' }]}
    >
      {(found) => <Found base={found} />}
    </LoadedPage>
  )
}

function Found({ base }: { base: Knowledge }) {
  const { knowledge_id, name, role } = base
  const { isOwner } = useRole()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'change' | 'share' | 'delete' | null>(null)
  const close = (): void => setOpen(null)
  const mayEdit = role === 'owner' || role === 'edit'
  const change = useChange('updateKnowledge', {
    stale: ['getKnowledge', 'listKnowledge', 'listKnowledgeDocuments'],
    done: 'The knowledge base was saved',
    onDone: close,
  })
  const remove = useChange('deleteKnowledge', {
    stale: ['listKnowledge'],
    done: 'The knowledge base was deleted',
    onDone: () => void navigate({ to: '/knowledge' }),
  })
  return (
    <Page
      title={name}
      crumbs={[{ label: 'Knowledge', to: '/knowledge' }]}
      description={base.description ?? undefined}
      actions={
        <>
          {mayEdit && (
            <Button icon={Pencil} onClick={() => setOpen('change')}>
              Change
            </Button>
          )}
          {role === 'owner' && (
            <Button icon={Share2} onClick={() => setOpen('share')}>
              Share
            </Button>
          )}
          {(role === 'owner' || isOwner) && (
            <Button icon={Trash2} onClick={() => setOpen('delete')}>
              Delete
            </Button>
          )}
        </>
      }
    >
      {base.waiting_count > 0 && (
        <p role="status" className="mb-6 text-ink-2">
          {plural(base.waiting_count, 'document', 'documents')} still to be indexed.
        </p>
      )}
      {role === 'manage' ? (
        <p className="text-ink-2">It was not shared with you. You can delete it, as an owner of the workspace.</p>
      ) : (
        <>
          <SearchPreview knowledgeId={knowledge_id} />
          <Documents knowledgeId={knowledge_id} mayEdit={mayEdit} waiting={base.waiting_count > 0} />
        </>
      )}
      <Dialog open={open === 'change'} onClose={close} title="Change the knowledge base" size="medium">
        <BaseForm
          base={base}
          submit="Save"
          mayChooseModel={role === 'owner'}
          onCancel={close}
          onSubmit={(values) => change.mutateAsync({ knowledge_id, ...values })}
        />
      </Dialog>
      <KnowledgeSharing open={open === 'share'} onClose={close} base={base} />
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        {...deletionOf(base)}
        onConfirm={() => remove.mutateAsync({ knowledge_id })}
      />
    </Page>
  )
}
