import { ArrowRight } from 'lucide-react'
import type { Json } from '#model/definition'
import { isObject } from '#model/json'
import { Button } from '#web/ui/button.tsx'
import { plural } from '#web/ui/format.ts'
import { CelField } from './cel-field.tsx'
import { ConditionEditor } from './condition-editor.tsx'
import { NumberInput, SelectInput } from './inputs.tsx'
import { useFieldScope } from './scope.tsx'
import type { ValueProps } from './value-props.ts'

/** The graph inside a map, which is drawn on a separate canvas. */
export function BodyField({ value }: { value: Json | undefined }) {
  const { openBody } = useFieldScope()
  const count = isObject(value) && Array.isArray(value.nodes) ? value.nodes.length : 0
  return (
    <div className="flex items-center gap-3 rounded-md border border-line p-2.5">
      <span className="flex-1 text-ink-2">{count === 0 ? 'Empty' : plural(count, 'node', 'nodes')}</span>
      {openBody && (
        <Button size="small" icon={ArrowRight} onClick={openBody}>
          Open loop body
        </Button>
      )}
    </div>
  )
}

export function ConditionField({ value, label, pointer, onChange }: ValueProps) {
  const { problemAt } = useFieldScope()
  return (
    <ConditionEditor
      label={label}
      problem={problemAt(pointer)}
      cel={isObject(value) ? String(value.$cel ?? '') : ''}
      onChange={(cel) => onChange({ $cel: cel })}
    />
  )
}

type Quorum = 'any' | 'all' | 'n_of' | 'cel'

export function QuorumField({ value, onChange, id }: ValueProps & { id: string }) {
  const { readOnly } = useFieldScope()
  const sort: Quorum = isObject(value)
    ? Object.hasOwn(value, 'n_of')
      ? 'n_of'
      : 'cel'
    : value === 'all'
      ? 'all'
      : 'any'
  const begin: Record<Quorum, Json> = {
    any: 'any',
    all: 'all',
    n_of: { n_of: 2 },
    cel: { $cel: 'approvals.human >= 1' },
  }
  return (
    <div className="flex flex-col gap-1.5">
      <SelectInput
        id={id}
        disabled={readOnly}
        value={sort}
        onChange={(event) => onChange(begin[event.currentTarget.value as Quorum])}
      >
        <option value="any">One approval is enough</option>
        <option value="all">All must approve</option>
        <option value="n_of">A minimum number must approve</option>
        <option value="cel">CEL rule</option>
      </SelectInput>
      {sort === 'n_of' && (
        <NumberInput
          aria-label="Approvals required"
          disabled={readOnly}
          value={Number((value as { n_of: number }).n_of)}
          onNumber={(n) => onChange({ n_of: n ?? 1 })}
        />
      )}
      {sort === 'cel' && (
        <CelField
          label="Quorum"
          cel={String((value as { $cel: string }).$cel)}
          onChange={(cel) => onChange({ $cel: cel })}
        />
      )}
    </div>
  )
}
