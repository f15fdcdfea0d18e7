import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { HeddleProblem } from '#sdk/problems'
import type { Workflow } from '#sdk/types.generated'
import { useAll, useChange } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/confirm.tsx'
import { Checkbox, Field, Form, Input, Select, Textarea, withPresent } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { Empty } from '#web/ui/states.tsx'
import { t } from '#web/words/language.ts'
import { FlowSection, PauseSection } from './flow-section.tsx'
import { TagsField } from './list/row-menu.tsx'
import { tagsIn } from './list/state.ts'
import { McpTool } from './mcp-tool.tsx'
import { OnEvent } from './on-event.tsx'
import { Portable } from './portable.tsx'
import { mayChange, mayRun } from './role.ts'
import { ScheduleSection } from './schedule.tsx'
import { ServiceTriggers } from './service-triggers.tsx'
import { StateSection } from './state-section.tsx'
import { HandOver } from './transfer.tsx'
import { WorkflowPage } from './workflow-page.tsx'

export const SettingsPage = () => (
  <WorkflowPage section="Settings">
    {(workflow, role) =>
      mayChange(role) ? (
        <>
          <General workflow={workflow} />
          {role === 'owner' && <ScheduleSection workflow={workflow} />}
          <OnEvent workflow={workflow} />
          <ServiceTriggers workflow={workflow} />
          <McpTool workflow={workflow} />
          <PauseSection workflow={workflow} />
          <Limits workflow={workflow} />
          <FlowSection workflow={workflow} />
          <WhenItFails workflow={workflow} />
          <StateSection workflow={workflow} />
          <Portable workflow={workflow} />
          {role === 'owner' && <HandOver workflow={workflow} />}
          {role === 'owner' && <Remove workflow={workflow} />}
        </>
      ) : (
        <Empty
          title={workflow.kind === 'system' ? 'No settings' : 'Only the owner and editors can change the settings'}
        >
          {workflow.kind === 'system' ? 'Built-in workflows have no settings.' : 'Ask the owner if you need a change.'}
        </Empty>
      )
    }
  </WorkflowPage>
)

const useUpdate = () => useChange('updateWorkflow', { stale: ['getWorkflow', 'listWorkflows'], done: 'Saved' })

function General({ workflow }: { workflow: Workflow }) {
  const update = useUpdate()
  return (
    <Section title="Name">
      <Card className="max-w-xl">
        <Form<{ name: string; description: string; tags: string }>
          submit="Save"
          onSubmit={({ name, description, tags }) =>
            update.mutateAsync({
              workflow_id: workflow.workflow_id,
              name,
              description: description || null,
              tags: tagsIn(tags),
            })
          }
        >
          <Field name="name" label="Name">
            <Input required defaultValue={workflow.name} maxLength={200} />
          </Field>
          <Field name="description" label="Description">
            <Textarea rows={3} defaultValue={workflow.description ?? ''} />
          </Field>
          <TagsField defaultValue={workflow.tags.join(', ')} />
        </Form>
      </Card>
    </Section>
  )
}

type LimitValues = { timeout_s: string; max_concurrency: string; retention_days: string; finally_grace_s: string }
const limits: { name: keyof LimitValues; label: string; hint: string }[] = [
  {
    name: 'timeout_s',
    label: 'Timeout (seconds)',
    hint: 'A longer run ends as timed out. Time spent waiting for people counts.',
  },
  {
    name: 'max_concurrency',
    label: 'Max concurrent runs',
    hint: 'Additional runs wait for a free slot. A run that waits for people or time does not count.',
  },
  { name: 'retention_days', label: 'Retention (days)', hint: 'Finished runs are deleted after this time.' },
  {
    name: 'finally_grace_s',
    label: 'Time for final nodes (seconds)',
    hint: 'How long nodes that always run at the end may take together. Default: 60.',
  },
]

function Limits({ workflow }: { workflow: Workflow }) {
  const update = useUpdate()
  return (
    <Section title="Limits" description="Empty: the installation's default.">
      <Card className="max-w-xl">
        <Form<LimitValues>
          submit="Save"
          onSubmit={(values) => {
            const settings = Object.fromEntries(
              limits.map(({ name }) => [name, values[name] ? Number(values[name]) : null]),
            )
            return update.mutateAsync({ workflow_id: workflow.workflow_id, settings })
          }}
        >
          {limits.map(({ name, label, hint }) => (
            <Field key={name} name={name} label={label} hint={hint}>
              <Input type="number" min={1} defaultValue={workflow.settings[name] ?? ''} />
            </Field>
          ))}
        </Form>
      </Card>
    </Section>
  )
}

function WhenItFails({ workflow }: { workflow: Workflow }) {
  const { userId } = useRole()
  const workflows = useAll('listWorkflows', { limit: 200 })
  const update = useUpdate()
  const present = workflow.settings.error_workflow_id ?? ''
  const [chosen, setChosen] = useState(present)
  const others = (workflows.data ?? []).filter(
    (one) => one.workflow_id !== workflow.workflow_id && one.kind === 'user' && mayRun(one, userId),
  )
  return (
    <Section title="When a run fails" description="Runs another workflow with details of the failure.">
      <Card className="max-w-xl">
        <Form
          submit="Save"
          onSubmit={() =>
            update.mutateAsync({
              workflow_id: workflow.workflow_id,
              settings: { error_workflow_id: chosen || null },
            })
          }
        >
          <Field label="Error workflow">
            <Select
              value={chosen}
              onChange={(event) => setChosen(event.currentTarget.value)}
              options={[
                { value: '', label: 'None' },
                ...withPresent(
                  others.map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
                  present,
                  t('the current workflow'),
                ),
              ]}
            />
          </Field>
        </Form>
      </Card>
    </Section>
  )
}

function Remove({ workflow }: { workflow: Workflow }) {
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const [live, setLive] = useState(false)
  const [cancelRuns, setCancelRuns] = useState(false)
  const remove = useChange('deleteWorkflow', { stale: ['listWorkflows'], done: `${workflow.name} was deleted` })
  return (
    <Section title="Delete">
      <Card className="flex max-w-xl items-center justify-between gap-4">
        <p className="text-ink-2">Deletes its versions, tokens and schedules. Its runs stay readable.</p>
        <Button look="danger" onClick={() => setAsking(true)}>
          Delete workflow
        </Button>
      </Card>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${workflow.name}?`}
        consequence={
          <>
            <p>
              Webhooks and widgets stop working, its schedules stop, and jobs that use it pause. This cannot be undone.
            </p>
            {live && (
              <div className="mt-3">
                <Checkbox label="Cancel runs in progress" checked={cancelRuns} onCheckedChange={setCancelRuns} />
              </div>
            )}
          </>
        }
        action="Delete workflow"
        onConfirm={async () => {
          try {
            await remove.mutateAsync({
              workflow_id: workflow.workflow_id,
              ...(cancelRuns && { cancel_runs: 'true' as const }),
            })
          } catch (error) {
            if (error instanceof HeddleProblem && error.code === 'runs_live') setLive(true)
            throw error
          }
          await navigate({ to: '/workflows' })
        }}
      />
    </Section>
  )
}
