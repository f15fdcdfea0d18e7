import { useState } from 'react'
import { isObject } from '#model/json'
import type { Workflow, WorkflowSchedule } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Dialog } from '#web/ui/dialog.tsx'
import { Field, Form, Select } from '#web/ui/field.tsx'
import { NextTimes } from '#web/ui/next-times.tsx'
import { ownTimeZone } from '#web/ui/schedule-fields.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { Loading } from '#web/ui/states.tsx'
import { Moments, type Times } from './schedule-times.tsx'
import { definitionOf, useVersion } from './versions-of.ts'

const STALE = ['listSchedules', 'getSchedule'] as const

type Rules = { overlap: WorkflowSchedule['overlap']; catch_up: WorkflowSchedule['catch_up'] }

const asksForInput = (schema: unknown): boolean =>
  isObject(schema) &&
  ((isObject(schema.properties) && Object.keys(schema.properties).length > 0) || Array.isArray(schema.required))

/** The times of a schedule, the rule for overlapping executions, and the input of each execution. */
export function ScheduleDialog({
  workflow,
  schedule,
  onClose,
}: {
  workflow: Workflow
  /** Null for a new schedule. */
  schedule: WorkflowSchedule | null
  onClose(): void
}) {
  const { workflow_id } = workflow
  const [times, setTimes] = useState<Times>({
    cron: schedule ? schedule.cron : '0 9 * * 1-5',
    every_s: schedule?.every_s ?? null,
    at: schedule?.at ?? null,
    timezone: schedule?.timezone ?? ownTimeZone(),
  })
  const [rules, setRules] = useState<Rules | null>(null)
  const { version, isLoading } = useVersion(workflow_id, workflow.active_version_id, true)
  const inputs = version ? definitionOf(version).inputs : undefined
  const asks = asksForInput(inputs)
  const add = useChange('createSchedule', { stale: [...STALE], done: 'Schedule saved' })
  const change = useChange('updateSchedule', { stale: [...STALE], done: 'Schedule saved' })
  const save = async (given: Rules, input: unknown): Promise<void> => {
    const body = { workflow_id, ...times, ...given, input: (input ?? {}) as Record<string, unknown> }
    await (schedule === null
      ? add.mutateAsync(body)
      : change.mutateAsync({ ...body, schedule_id: schedule.schedule_id }))
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={schedule === null ? 'Add schedule' : 'Edit schedule'}
      description={rules === null ? undefined : 'The input of every run that this schedule starts.'}
      size="medium"
    >
      {isLoading ? (
        <Loading rows={4} />
      ) : rules === null ? (
        <Form<Rules>
          submit={asks ? 'Continue' : 'Save schedule'}
          onSubmit={async (given) => (asks ? setRules(given) : save(given, schedule?.input))}
        >
          <Moments value={times} onChange={setTimes} />
          <NextTimes {...times} />
          <Field name="overlap" label="If the previous run has not ended">
            <Select
              defaultValue={schedule?.overlap ?? 'allow'}
              options={[
                { value: 'allow', label: 'Start in parallel' },
                { value: 'skip', label: 'Skip this time' },
                { value: 'queue', label: 'Start after it has ended' },
                { value: 'cancel', label: 'Cancel it and start' },
              ]}
            />
          </Field>
          <Field name="catch_up" label="Times missed while the service was down">
            <Select
              defaultValue={schedule?.catch_up ?? 'last'}
              options={[
                { value: 'last', label: 'Run once for the missed times' },
                { value: 'all', label: 'Run for every missed time' },
                { value: 'none', label: 'Skip missed times' },
              ]}
            />
          </Field>
        </Form>
      ) : (
        <SchemaForm
          value={schedule?.input ?? {}}
          schema={inputs ?? { type: 'object' }}
          submit="Save schedule"
          json
          onSubmit={(input) => save(rules, input)}
        />
      )}
    </Dialog>
  )
}
