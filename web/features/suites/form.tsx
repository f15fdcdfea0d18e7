import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { NewSuite, Suite } from '#sdk/types.generated'
import { useAll } from '#web/api.ts'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Field, Form, Input, Select } from '#web/ui/field.tsx'
import { Card, Section } from '#web/ui/page.tsx'
import { datasetOptions } from '../datasets/options.ts'
import { fromInputMapping, inputMappingOf } from '../jobs/mapping.ts'
import { InputMappingFields } from '../jobs/mapping-fields.tsx'
import { useInputs } from '../jobs/use-inputs.ts'
import { type CheckRow, newCheck, rowsOf, toChecks } from './checks.ts'

const kinds = [
  { value: 'equal', label: 'equals' },
  { value: 'cel', label: 'is true (CEL)' },
  { value: 'judge', label: 'a model agrees' },
]

export function SuiteForm({
  workflowId,
  suite,
  submit,
  onSave,
}: {
  workflowId: string
  suite?: Suite
  submit: string
  onSave(body: NewSuite): Promise<unknown>
}) {
  const datasets = useAll('listDatasets', { limit: 200 })
  const inputs = useInputs(workflowId)
  const [datasetId, setDatasetId] = useState(suite?.dataset_id ?? '')
  const [given, setGiven] = useState(() => inputMappingOf(suite?.mapping))
  const [checks, setChecks] = useState<CheckRow[]>(() => (suite ? rowsOf(suite.checks) : [newCheck()]))
  const set = (id: number, change: Partial<CheckRow>): void =>
    setChecks(checks.map((check) => (check.id === id ? { ...check, ...change } : check)))
  const dataset = datasets.data?.find(({ dataset_id }) => dataset_id === datasetId)
  return (
    <div className="max-w-2xl">
      <Form<{ name: string }>
        submit={submit}
        onSubmit={async ({ name }) =>
          onSave({
            name,
            dataset_id: datasetId || null,
            mapping: fromInputMapping(given),
            checks: toChecks(checks),
          })
        }
      >
        <Field name="name" label="Name">
          <Input required maxLength={200} defaultValue={suite?.name ?? ''} />
        </Field>
        <Field label="Test records">
          <Select
            value={datasetId}
            onChange={(event) => setDatasetId(event.currentTarget.value)}
            options={[
              { value: '', label: datasets.data?.length === 0 ? 'No datasets yet' : 'Choose a dataset' },
              ...datasetOptions(datasets.data),
            ]}
          />
        </Field>
        <Section title="Workflow input" className="mb-0!">
          <Card className="flex flex-col gap-4">
            <InputMappingFields
              value={given}
              onChange={setGiven}
              columns={dataset?.columns.map(({ name }) => name) ?? []}
              inputs={inputs}
            />
          </Card>
        </Section>
        <Section title="Checks" description="A record passes if all checks pass." className="mb-0!">
          <Card className="flex flex-col gap-3">
            {checks.map((check, at) => (
              <div
                key={check.id}
                className="grid grid-cols-[10rem_1fr_auto] items-end gap-2 max-sm:grid-cols-[1fr_auto]"
              >
                <Field label={`Check ${at + 1}`}>
                  <Select
                    value={check.kind}
                    options={kinds}
                    onChange={(event) =>
                      set(check.id, {
                        kind: event.currentTarget.value as CheckRow['kind'],
                        text: event.currentTarget.value === 'equal' ? 'record.expected' : '',
                      })
                    }
                  />
                </Field>
                <Field label={`Condition of check ${at + 1}`} hideLabel>
                  <Input
                    required
                    spellCheck={false}
                    className="font-mono text-xs"
                    value={check.text}
                    onChange={(event) => set(check.id, { text: event.target.value })}
                    placeholder={
                      check.kind === 'equal'
                        ? 'record.expected'
                        : check.kind === 'cel'
                          ? 'size(results) < 100'
                          : 'Is the answer polite and correct?'
                    }
                  />
                </Field>
                <IconButton
                  icon={Trash2}
                  label={`Remove check ${at + 1}`}
                  disabled={checks.length === 1}
                  onClick={() => setChecks(checks.filter(({ id }) => id !== check.id))}
                />
                {check.kind === 'equal' && (
                  <Field
                    label={`Fields compared by check ${at + 1}`}
                    hideLabel
                    className="col-span-full"
                    hint="Only these fields, separated by commas. Empty: all fields."
                  >
                    <Input
                      value={check.fields}
                      onChange={(event) => set(check.id, { fields: event.target.value })}
                      placeholder="all fields"
                    />
                  </Field>
                )}
              </div>
            ))}
            <div>
              <Button size="small" icon={Plus} onClick={() => setChecks([...checks, newCheck('cel', '')])}>
                Add check
              </Button>
            </div>
          </Card>
        </Section>
      </Form>
    </div>
  )
}
