import type { Workflow } from '#sdk/types.generated'
import { useChange } from '#web/api.ts'
import { Button } from '#web/ui/button.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { RelativeTime } from '#web/ui/time.tsx'

const stale = ['getWorkflow', 'listWorkflows'] as const

/** Pauses a workflow: no execution of a paused workflow starts; new executions wait. */
export function PauseSection({ workflow }: { workflow: Workflow }) {
  const { workflow_id, paused_at } = workflow
  const pause = useChange('pauseWorkflow', { stale: [...stale], done: 'Paused', failed: 'Could not pause' })
  const resume = useChange('resumeWorkflow', { stale: [...stale], done: 'Resumed', failed: 'Could not resume' })
  return (
    <Section title="Pause">
      <Card className="flex max-w-xl items-center justify-between gap-4">
        <p className="text-ink-2">
          {paused_at === null ? (
            'New runs wait until you resume. Runs in progress continue.'
          ) : (
            <>
              Paused <RelativeTime at={paused_at} />. New runs wait.
            </>
          )}
        </p>
        {paused_at === null ? (
          <Button pending={pause.isPending} onClick={() => pause.mutate({ workflow_id })}>
            Pause workflow
          </Button>
        ) : (
          <Button look="primary" pending={resume.isPending} onClick={() => resume.mutate({ workflow_id })}>
            Resume workflow
          </Button>
        )}
      </Card>
    </Section>
  )
}

type Values = Record<
  | 'limit'
  | 'key'
  | 'count'
  | 'when_full'
  | 'rate_limit'
  | 'per_s'
  | 'rate_key'
  | 'debounce_s'
  | 'debounce_key'
  | 'dedupe_key'
  | 'dedupe_s',
  string
>

const keyOf = (text: string) => (text.trim() === '' ? {} : { key: { $cel: text.trim() } })

/** Converts the form to settings of the workflow; an empty limit or window removes the rule. */
function settingsOf(values: Values) {
  return {
    concurrency: values.limit
      ? {
          limit: Number(values.limit),
          count: values.count as 'running' | 'live',
          when_full: values.when_full as 'queue' | 'skip' | 'cancel_oldest',
          ...keyOf(values.key),
        }
      : null,
    rate: values.rate_limit
      ? { limit: Number(values.rate_limit), per_s: Number(values.per_s), ...keyOf(values.rate_key) }
      : null,
    debounce: values.debounce_s ? { window_s: Number(values.debounce_s), ...keyOf(values.debounce_key) } : null,
    dedupe: values.dedupe_s ? { window_s: Number(values.dedupe_s), key: { $cel: values.dedupe_key.trim() } } : null,
  }
}

const keyHint = 'A CEL expression such as input.customer. Runs with the same value belong together.'

export function FlowSection({ workflow }: { workflow: Workflow }) {
  const update = useChange('updateWorkflow', { stale: [...stale], done: 'Saved' })
  const { concurrency, rate, debounce, dedupe } = workflow.settings
  return (
    <Section
      title="When runs start"
      description="These rules apply to every start: by people, webhooks, schedules, jobs and other workflows."
    >
      <Card className="max-w-xl">
        <Form<Values>
          submit="Save"
          onSubmit={(values) =>
            update.mutateAsync({ workflow_id: workflow.workflow_id, settings: settingsOf(values) as never })
          }
        >
          <div className="grid grid-cols-2 gap-3">
            <Field name="limit" label="Runs at once" hint="Cannot be set together with “Max concurrent runs”.">
              <Input type="number" min={1} max={10_000} defaultValue={concurrency?.limit ?? ''} />
            </Field>
            <Field name="key" label="For each value of" hint={keyHint}>
              <Input className="font-mono" defaultValue={concurrency?.key?.$cel ?? ''} />
            </Field>
            <Field
              name="count"
              label="A waiting run"
              hint="If it keeps its slot, the next run starts only after it has ended."
            >
              <Select
                defaultValue={concurrency?.count ?? 'running'}
                options={[
                  { value: 'running', label: 'Frees its slot' },
                  { value: 'live', label: 'Keeps its slot' },
                ]}
              />
            </Field>
            <Field name="when_full" label="When no slot is free">
              <Select
                defaultValue={concurrency?.when_full ?? 'queue'}
                options={[
                  { value: 'queue', label: 'Wait' },
                  { value: 'skip', label: 'Skip the new run' },
                  { value: 'cancel_oldest', label: 'Cancel the oldest run' },
                ]}
              />
            </Field>
            <Field name="rate_limit" label="Starts at most">
              <Input type="number" min={1} max={10_000} defaultValue={rate?.limit ?? ''} />
            </Field>
            <Field name="per_s" label="Within seconds">
              <Input type="number" min={0} step="any" defaultValue={rate?.per_s ?? 60} />
            </Field>
            <Field name="rate_key" label="Start rate for each" className="col-span-2">
              <Input className="font-mono" defaultValue={rate?.key?.$cel ?? ''} />
            </Field>
            <Field name="debounce_s" label="Debounce (seconds)" hint="Only the newest run starts, after this time.">
              <Input type="number" min={0} step="any" defaultValue={debounce?.window_s ?? ''} />
            </Field>
            <Field name="debounce_key" label="Debounce for each">
              <Input className="font-mono" defaultValue={debounce?.key?.$cel ?? ''} />
            </Field>
            <Field name="dedupe_s" label="Ignore duplicates for (seconds)">
              <Input type="number" min={0} step="any" defaultValue={dedupe?.window_s ?? ''} />
            </Field>
            <Field name="dedupe_key" label="Duplicate if equal">
              <Input className="font-mono" defaultValue={dedupe?.key?.$cel ?? ''} />
            </Field>
          </div>
        </Form>
      </Card>
    </Section>
  )
}
