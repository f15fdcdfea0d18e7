import { useState } from 'react'
import type { Definition, EnrichmentJob, NewEnrichmentJob } from '#sdk/types.generated'
import { useAll, useApi } from '#web/api.ts'
import { useRole } from '#web/session.tsx'
import { Field, Form, Input, Select, Switch, Textarea, withPresent } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { ownTimeZone, ScheduleFields, type ScheduleValue } from '#web/ui/schedule-fields.tsx'
import { t } from '#web/words/language.ts'
import { datasetOptions } from '../datasets/options.ts'
import { mayRun } from '../workflows/role.ts'
import { fromInputMapping, inputMappingOf } from './mapping.ts'
import { InputMappingFields } from './mapping-fields.tsx'
import { useInputs } from './use-inputs.ts'

// The fields of a job. The values of selects are kept here, the rest is read from the form when it is sent.

type Values = {
  name: string
  only_if: string
  definition?: string
  new_name?: string
  concurrency: string
  error_rate: string
  key: string
  max_attempts: string
  backoff_s: string
  max_tokens: string
  max_cost: string
}
type Body = Omit<NewEnrichmentJob, 'name'> & { name: string }

const STANDALONE = 'own'

export function JobForm({
  job,
  preset = {},
  submit,
  onSave,
}: {
  job?: EnrichmentJob
  preset?: { dataset_id?: string; workflow_id?: string }
  submit: string
  onSave(body: Body): Promise<unknown>
}) {
  const { userId } = useRole()
  const workflows = useAll('listWorkflows', { limit: 200 })
  const datasets = useAll('listDatasets', { limit: 200 })
  const connections = useApi('listConnections')
  const runnable = (workflows.data ?? []).filter((one) => one.kind === 'user' && mayRun(one, userId))
  const sources = (connections.data?.items ?? []).flatMap((connection) =>
    connection.sources.map((source) => ({ ...source, of: connection.name })),
  )

  const [workflow, setWorkflow] = useState(job ? (job.workflow_id ?? STANDALONE) : (preset.workflow_id ?? ''))
  const [data, setData] = useState(dataOf(job, preset))
  const [output, setOutput] = useState<'none' | 'new' | 'existing'>(outputOf(job))
  const [mode, setMode] = useState<'replace' | 'upsert'>(job?.output?.mode ?? 'replace')
  const [outputId, setOutputId] = useState(job?.output?.dataset_id ?? '')
  const [given, setGiven] = useState(() => inputMappingOf(job?.mapping))
  const [schedule, setSchedule] = useState<ScheduleValue | null>(job?.schedule ?? null)

  const inputs = useInputs(workflow === STANDALONE ? null : workflow)
  const dataset = data.startsWith('ds:')
    ? datasets.data?.find(({ dataset_id }) => dataset_id === data.slice(3))
    : undefined

  const send = (values: Values): Promise<unknown> => {
    if (workflow === '') throw new Error('Choose what the job runs.')
    return onSave({
      name: values.name,
      ...(workflow === STANDALONE
        ? { workflow_id: null, definition: readJson(values.definition ?? '') as Definition }
        : { workflow_id: workflow }),
      dataset_id: data.startsWith('ds:') ? data.slice(3) : null,
      source_id: data.startsWith('src:') ? data.slice(4) : null,
      mapping: fromInputMapping(given),
      only_if: values.only_if.trim() || null,
      output:
        output === 'none'
          ? null
          : { ...(output === 'new' ? { new: values.new_name ?? '' } : { dataset_id: outputId }), mode },
      schedule,
      concurrency: values.concurrency ? Number(values.concurrency) : null,
      stop_on_error_rate: values.error_rate ? Number(values.error_rate) / 100 : null,
      key: values.key.trim() || null,
      retry: {
        ...(values.max_attempts && { max_attempts: Number(values.max_attempts) }),
        ...(values.backoff_s && { backoff_s: Number(values.backoff_s) }),
      },
      max_tokens: values.max_tokens ? Number(values.max_tokens) : null,
      max_cost: values.max_cost ? Number(values.max_cost) : null,
    })
  }
  return (
    <div className="max-w-2xl">
      <Form<Values> submit={submit} onSubmit={async (values) => send(values)}>
        <Field name="name" label="Name">
          <Input required maxLength={200} defaultValue={job?.name ?? ''} autoFocus={!job} />
        </Field>
        <Field label="Workflow" hint="Members of the workflow can see the job.">
          <Select
            value={workflow}
            onChange={(event) => setWorkflow(event.currentTarget.value)}
            options={[
              { value: '', label: 'Choose a workflow', disabled: true },
              ...withPresent(
                runnable.map(({ workflow_id, name }) => ({ value: workflow_id, label: name })),
                workflow === STANDALONE ? null : workflow,
                t('the current workflow'),
              ),
              { value: STANDALONE, label: 'Its own definition' },
            ]}
          />
        </Field>
        {workflow === STANDALONE && (
          <Field name="definition" label="Definition" hint="JSON, in the format of a workflow version.">
            <Textarea
              rows={10}
              required
              spellCheck={false}
              className="font-mono text-xs"
              defaultValue={JSON.stringify(job?.definition ?? example, null, 2)}
            />
          </Field>
        )}
        <Field label="Data">
          <Select
            value={data}
            onChange={(event) => setData(event.currentTarget.value)}
            options={withPresent(
              [
                { value: '', label: 'None yet. Choose data later' },
                ...datasetOptions(datasets.data, 'ds:'),
                ...sources.map(({ source_id, name, of }) => ({
                  value: `src:${source_id}`,
                  label: `${of}: ${name} (captured at each run)`,
                })),
              ],
              data,
              t('the current data'),
            )}
          />
        </Field>
        <Section title="Input of each run" className="mb-0!">
          <Card className="flex flex-col gap-4">
            <InputMappingFields
              value={given}
              onChange={setGiven}
              columns={dataset?.columns.map(({ name }) => name) ?? []}
              inputs={inputs}
            />
            <Field
              name="only_if"
              label="Only records where"
              hint="CEL over record, for example record.score > 5. Empty: all."
            >
              <Input
                spellCheck={false}
                className="font-mono text-xs"
                defaultValue={job?.only_if ?? ''}
                placeholder="has(record.email)"
              />
            </Field>
            <Field
              name="key"
              label="Key column"
              hint="Distinguishes records with the same input. Empty: records with the same input count as one."
            >
              <Input maxLength={256} defaultValue={job?.key ?? ''} />
            </Field>
          </Card>
        </Section>
        <Field label="Results">
          <Select
            value={output}
            onChange={(event) => setOutput(event.currentTarget.value as 'none')}
            options={[
              { value: 'none', label: 'Nowhere. The workflow handles its results' },
              { value: 'new', label: 'To a new dataset, replaced by each run' },
              { value: 'existing', label: 'To an existing dataset' },
            ]}
          />
        </Field>
        {output === 'new' && (
          <Field name="new_name" label="New dataset name">
            <Input required maxLength={200} defaultValue={job?.output?.new ?? ''} />
          </Field>
        )}
        {output === 'existing' && (
          <Field name="output_id" label="Dataset" hint="Its records are replaced by each run.">
            <Select
              required
              value={outputId}
              onChange={(event) => setOutputId(event.currentTarget.value)}
              options={[
                { value: '', label: 'Choose a dataset', disabled: true },
                ...withPresent(
                  (datasets.data ?? []).map(({ dataset_id, name }) => ({ value: dataset_id, label: name })),
                  outputId,
                  t('the current dataset'),
                ),
              ]}
            />
          </Field>
        )}
        {output !== 'none' && (
          <Field label="Rows of earlier runs" hint="Keeping these rows requires a key column.">
            <Select
              value={mode}
              onChange={(event) => setMode(event.currentTarget.value as 'replace')}
              options={[
                { value: 'replace', label: 'Replace' },
                { value: 'upsert', label: 'Keep, and update those with the same key' },
              ]}
            />
          </Field>
        )}
        <Section title="Schedule" className="mb-0!">
          <Card className="flex flex-col gap-4">
            <Switch
              label="On a schedule"
              checked={schedule !== null}
              onCheckedChange={(on) => setSchedule(on ? { cron: '0 6 * * *', timezone: ownTimeZone() } : null)}
            />
            {schedule && <ScheduleFields value={schedule} onChange={setSchedule} />}
          </Card>
        </Section>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field name="concurrency" label="Concurrency" hint="1 to 256.">
            <Input type="number" min={1} max={256} defaultValue={job?.concurrency ?? 64} />
          </Field>
          <Field
            name="error_rate"
            label="Stop when failures exceed, %"
            hint="Counts only the first attempts of records, after at least 100 of them."
          >
            <Input type="number" min={0} max={100} defaultValue={Math.round((job?.stop_on_error_rate ?? 0.5) * 100)} />
          </Field>
          <Field name="max_attempts" label="Max attempts" hint="Permanent failures are not retried.">
            <Input type="number" min={1} max={20} defaultValue={job?.retry.max_attempts ?? 5} />
          </Field>
          <Field name="backoff_s" label="Pause before a retry, seconds" hint="Doubles with each attempt.">
            <Input type="number" min={0} max={3600} step="any" defaultValue={job?.retry.backoff_s ?? 0.5} />
          </Field>
          <Field name="max_tokens" label="Token limit" hint="A run that uses more tokens is ended. Empty: no limit.">
            <Input type="number" min={1} step={1} defaultValue={job?.max_tokens ?? ''} />
          </Field>
          <Field name="max_cost" label="Cost limit" hint="Counts the cost that models report. Empty: no limit.">
            <Input type="number" min={0} step="any" defaultValue={job?.max_cost ?? ''} />
          </Field>
        </div>
      </Form>
    </div>
  )
}

const example = {
  inputs: { type: 'object' },
  nodes: [{ id: 'keep', type: 'set', args: { values: { record: { $ref: 'input' } } } }],
  edges: [],
  output: { $ref: 'nodes.keep.output' },
}

function dataOf(job: EnrichmentJob | undefined, preset: { dataset_id?: string }): string {
  if (job) return job.dataset_id ? `ds:${job.dataset_id}` : job.source_id ? `src:${job.source_id}` : ''
  return preset.dataset_id ? `ds:${preset.dataset_id}` : ''
}

const outputOf = (job: EnrichmentJob | undefined): 'none' | 'new' | 'existing' =>
  !job?.output ? 'none' : job.output.new !== undefined ? 'new' : 'existing'

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The definition is not valid JSON.')
  }
}
