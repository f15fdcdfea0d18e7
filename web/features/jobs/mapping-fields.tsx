import { Plus, Trash2 } from 'lucide-react'
import { Button, IconButton } from '#web/ui/button.tsx'
import { Field, Input, Select, Switch } from '#web/ui/field.tsx'
import { type InputMapping, type MappingRow, newRow } from './mapping.ts'
import type { WorkflowInput } from './use-inputs.ts'

export const InputMappingFields = ({
  value,
  onChange,
  columns,
  inputs,
}: {
  value: InputMapping
  onChange(given: InputMapping): void
  columns: string[]
  inputs: WorkflowInput[]
}) => (
  <>
    <Switch label="The whole record" checked={value.asIs} onCheckedChange={(asIs) => onChange({ ...value, asIs })} />
    {!value.asIs && (
      <Mapping rows={value.rows} onChange={(rows) => onChange({ ...value, rows })} columns={columns} inputs={inputs} />
    )}
  </>
)

/** The fields of the workflow's input and the columns that fill them. */
function Mapping({
  rows,
  onChange,
  columns,
  inputs,
}: {
  rows: MappingRow[]
  onChange(rows: MappingRow[]): void
  columns: string[]
  inputs: WorkflowInput[]
}) {
  const set = (id: number, change: Partial<MappingRow>): void =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...change } : row)))
  const missing = inputs.filter(({ name }) => !rows.some(({ field }) => field === name))
  const guess = (name: string): string => columns.find((column) => column.toLowerCase() === name.toLowerCase()) ?? ''
  return (
    <div className="flex flex-col gap-3">
      {rows.map((row, at) => (
        <div key={row.id} className="grid grid-cols-[1fr_11rem_1fr_auto] items-end gap-2 max-sm:grid-cols-[1fr_auto]">
          <Field label={`Field ${at + 1}`} hideLabel={at > 0}>
            <Input
              value={row.field}
              onChange={(event) => set(row.id, { field: event.target.value })}
              placeholder="email"
            />
          </Field>
          <Field label={`Kind of field ${at + 1}`} hideLabel>
            <Select
              value={row.from}
              onChange={(event) => set(row.id, { from: event.currentTarget.value as MappingRow['from'], value: '' })}
              options={[
                { value: 'column', label: 'Column' },
                { value: 'fixed', label: 'fixed' },
                { value: 'cel', label: 'Expression (CEL)' },
              ]}
            />
          </Field>
          <Field label={`Value of field ${at + 1}`} hideLabel>
            {row.from === 'column' && columns.length > 0 ? (
              <Select
                value={row.value}
                onChange={(event) => set(row.id, { value: event.currentTarget.value })}
                options={[
                  { value: '', label: 'Choose a column' },
                  ...columns.map((column) => ({ value: column, label: column })),
                  ...(row.value !== '' && !columns.includes(row.value)
                    ? [{ value: row.value, label: `${row.value} (not in the dataset)` }]
                    : []),
                ]}
              />
            ) : (
              <Input
                value={row.value}
                spellCheck={false}
                className="font-mono text-xs"
                onChange={(event) => set(row.id, { value: event.target.value })}
                placeholder={
                  row.from === 'cel' ? 'record.first + " " + record.last' : row.from === 'column' ? 'column' : 'value'
                }
              />
            )}
          </Field>
          <IconButton
            icon={Trash2}
            label={`Remove field ${row.field || at + 1}`}
            onClick={() => onChange(rows.filter(({ id }) => id !== row.id))}
          />
        </div>
      ))}
      <div className="flex flex-wrap gap-2">
        <Button size="small" icon={Plus} onClick={() => onChange([...rows, newRow()])}>
          Add field
        </Button>
        {missing.length > 0 && (
          <Button
            size="small"
            onClick={() => onChange([...rows, ...missing.map(({ name }) => newRow(name, 'column', guess(name)))])}
          >
            Add the workflow's inputs ({missing.map(({ name }) => name).join(', ')})
          </Button>
        )}
      </div>
    </div>
  )
}
