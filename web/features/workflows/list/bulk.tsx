import { Download, Pause, Play, Tag, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { api, invalidate, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { plural } from '#web/ui/format.ts'
import { refusalsIn, type Selection } from '#web/ui/selection.tsx'
import { toast } from '#web/ui/toast.tsx'
import { saveExport } from '../portable.tsx'
import { mayChange, roleIn } from '../role.ts'
import { stateOf, tagsIn } from './state.ts'

/**
 * Processes workflows one after the other, so that a selection of a hundred does not use all of the workspace's slots
 * at once.
 */
async function forEach(workflows: Workflow[], verb: (workflow: Workflow) => Promise<unknown>): Promise<number> {
  const failures: unknown[] = []
  for (const workflow of workflows) await verb(workflow).catch((error: unknown) => failures.push(error))
  await invalidate('listWorkflows', 'getWorkflow')
  if (failures.length > 0) toast.failed(`${failures.length} of ${workflows.length} were refused`, failures[0])
  return workflows.length - failures.length
}

/** Actions for the selected workflows; each action applies to the workflows that it fits. */
export function BulkActions({ selection }: { selection: Selection<Workflow> }) {
  const { userId } = useRole()
  const [pending, setPending] = useState(false)
  const [tagging, setTagging] = useState(false)
  const changeable = selection.chosen.filter((workflow) => mayChange(roleIn(workflow, userId)))
  const owned = selection.chosen.filter(({ owner_id }) => owner_id === userId)
  const running = changeable.filter(({ paused_at }) => paused_at === null)
  const paused = changeable.filter(({ paused_at }) => paused_at !== null)
  const exportable = selection.chosen.filter((workflow) => stateOf(workflow) !== 'draft')
  const act = async (verb: () => Promise<void>): Promise<void> => {
    setPending(true)
    try {
      await verb()
    } catch (error) {
      toast.failed('That did not work', error)
    } finally {
      setPending(false)
    }
  }
  const pause = async (): Promise<void> => {
    const done = await forEach(running, ({ workflow_id }) => api.pauseWorkflow({ workflow_id }))
    if (done > 0) toast.done(`${plural(done, 'workflow', 'workflows')} paused`)
  }
  const resume = async (): Promise<void> => {
    const done = await forEach(paused, ({ workflow_id }) => api.resumeWorkflow({ workflow_id }))
    if (done > 0) toast.done(`${plural(done, 'workflow', 'workflows')} resumed`)
  }
  return (
    <>
      {exportable.length > 0 && (
        <Button icon={Download} disabled={pending} onClick={() => void act(() => saveExport(exportable))}>
          Export
        </Button>
      )}
      {running.length > 0 && (
        <Button icon={Pause} disabled={pending} onClick={() => void act(pause)}>
          Pause
        </Button>
      )}
      {paused.length > 0 && (
        <Button icon={Play} disabled={pending} onClick={() => void act(resume)}>
          Resume
        </Button>
      )}
      {changeable.length > 0 && (
        <Button icon={Tag} disabled={pending} onClick={() => setTagging(true)}>
          Add tag
        </Button>
      )}
      {owned.length > 0 && <DeleteChosen owned={owned} />}
      {tagging && <AddTag workflows={changeable} onClose={() => setTagging(false)} />}
    </>
  )
}

const AddTag = ({ workflows, onClose }: { workflows: Workflow[]; onClose(): void }) => (
  <Dialog open onClose={onClose} title={`Add a tag to ${plural(workflows.length, 'workflow', 'workflows')}`}>
    <Form<{ tags: string }>
      submit="Add tag"
      onCancel={onClose}
      onSubmit={async ({ tags }) => {
        const done = await forEach(workflows, ({ workflow_id, tags: before }) =>
          api.updateWorkflow({ workflow_id, tags: [...new Set([...before, ...tagsIn(tags)])] }),
        )
        if (done > 0) toast.done('Saved')
        onClose()
      }}
    >
      <Field name="tags" label="Tag" hint="Separate several with commas.">
        <Input required autoFocus maxLength={200} />
      </Field>
    </Form>
  </Dialog>
)

function DeleteChosen({ owned }: { owned: Workflow[] }) {
  const [asking, setAsking] = useState(false)
  const remove = useChange('deleteWorkflows', { stale: ['listWorkflows'] })
  const count = owned.length
  return (
    <>
      <Button icon={Trash2} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={count === 1 ? `Delete ${owned[0]?.name}?` : `Delete ${count} workflows?`}
        consequence="Their webhooks, schedules and widgets stop at once, and jobs pause. Workflows with live runs stay: cancel those runs first."
        action={count === 1 ? 'Delete workflow' : 'Delete workflows'}
        onConfirm={async () => {
          const { items } = await remove.mutateAsync({ workflow_ids: owned.map(({ workflow_id }) => workflow_id) })
          const refused = refusalsIn(items)
          if (refused) throw new Error(refused)
        }}
      />
    </>
  )
}
