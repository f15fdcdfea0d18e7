import { Copy, Download, Pause, Play, SquarePen, Tag } from 'lucide-react'
import { useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Input } from '#web/ui/field.tsx'
import { MenuItem, MenuSeparator } from '#web/ui/menu.tsx'
import { RowMenu } from '#web/ui/row-menu.tsx'
import { toast } from '#web/ui/toast.tsx'
import { saveExport } from '../portable.tsx'
import { mayChange, mayUse, roleIn } from '../role.ts'
import { useDuplicate } from './duplicate.ts'
import { stateOf, tagsIn } from './state.ts'

/** The actions of a workflow that do not need its page. */
export function WorkflowMenu({ workflow }: { workflow: Workflow }) {
  const { userId, canWrite } = useRole()
  const role = roleIn(workflow, userId)
  const { workflow_id, name } = workflow
  const [tagging, setTagging] = useState(false)
  const duplicate = useDuplicate()
  const stale = ['listWorkflows', 'getWorkflow'] as const
  const pause = useChange('pauseWorkflow', { stale: [...stale], done: 'Paused', failed: 'Could not pause it' })
  const resume = useChange('resumeWorkflow', { stale: [...stale], done: 'Resumed', failed: 'Could not resume it' })
  const update = useChange('updateWorkflow', { stale: [...stale], done: 'Saved' })
  const remove = useChange('deleteWorkflow', { stale: ['listWorkflows'], done: `${name} was deleted` })
  if (role === 'none') return null
  const state = stateOf(workflow)
  const download = (): void => void saveExport([workflow]).catch((error) => toast.failed('Could not export', error))
  return (
    <>
      <RowMenu
        name={name}
        path={`/workflows/${workflow_id}`}
        rename={mayChange(role) && ((next) => update.mutateAsync({ workflow_id, name: next }))}
        removal={
          role === 'owner' && {
            title: `Delete ${name}?`,
            consequence:
              'Its webhooks, schedules and widgets stop at once, and jobs that use it pause. With live runs it stays: cancel them first.',
            action: 'Delete workflow',
            onConfirm: () => remove.mutateAsync({ workflow_id }),
          }
        }
      >
        {mayUse(role) && state !== 'draft' && (
          <MenuItem icon={Play} to={`/workflows/${workflow_id}?run=yes`}>
            Run
          </MenuItem>
        )}
        {mayChange(role) && (
          <MenuItem icon={SquarePen} to={`/workflows/${workflow_id}/editor`}>
            Edit
          </MenuItem>
        )}
        {canWrite && (
          <MenuItem icon={Copy} onSelect={() => void duplicate(workflow)}>
            Duplicate
          </MenuItem>
        )}
        {state !== 'draft' && (
          <MenuItem icon={Download} onSelect={download}>
            Export
          </MenuItem>
        )}
        {mayChange(role) && (
          <>
            <MenuSeparator />
            <MenuItem icon={Tag} onSelect={() => setTagging(true)}>
              Tags…
            </MenuItem>
            {workflow.paused_at === null ? (
              <MenuItem icon={Pause} onSelect={() => pause.mutate({ workflow_id })}>
                Pause
              </MenuItem>
            ) : (
              <MenuItem icon={Play} onSelect={() => resume.mutate({ workflow_id })}>
                Resume
              </MenuItem>
            )}
          </>
        )}
      </RowMenu>
      {tagging && <TagsDialog workflow={workflow} onClose={() => setTagging(false)} />}
    </>
  )
}

function TagsDialog({ workflow, onClose }: { workflow: Workflow; onClose(): void }) {
  const update = useChange('updateWorkflow', { stale: ['listWorkflows', 'getWorkflow'], done: 'Saved' })
  return (
    <Dialog open onClose={onClose} title={`Tags of ${workflow.name}`}>
      <Form<{ tags: string }>
        submit="Save"
        onCancel={onClose}
        onSubmit={async ({ tags }) => {
          await update.mutateAsync({ workflow_id: workflow.workflow_id, tags: tagsIn(tags) })
          onClose()
        }}
      >
        <TagsField defaultValue={workflow.tags.join(', ')} />
      </Form>
    </Dialog>
  )
}

export const TagsField = ({ defaultValue }: { defaultValue: string }) => (
  <Field name="tags" label="Tags" hint="Words separated by commas, at most 20.">
    <Input defaultValue={defaultValue} maxLength={1100} placeholder="finance, monthly" />
  </Field>
)
