import { useState } from 'react'
import { useCheck } from '../check/load.ts'
import { CelField } from './cel-field.tsx'
import { ConditionRows } from './condition-rows.tsx'
import { writeConditions } from './conditions.ts'
import { useFieldScope } from './scope.tsx'

type Props = { cel: string; label: string; problem?: string | undefined; onChange(cel: string): void }

/** A condition as rows of field, operator and value; as CEL if rows cannot express it, or if the user prefers CEL. */
export function ConditionEditor({ cel, label, problem, onChange }: Props) {
  const { readOnly } = useFieldScope()
  const check = useCheck()
  const [written, setWritten] = useState(false)
  const rows = check?.readConditions(cel) ?? null
  const asRows = rows !== null && !written
  return (
    <div className="flex flex-col gap-1.5">
      {asRows ? (
        <ConditionRows label={label} value={rows} onChange={(next) => onChange(writeConditions(next))} />
      ) : (
        <CelField label={label} cel={cel} problem={problem} onChange={onChange} />
      )}
      {rows !== null && !readOnly && (
        <button
          type="button"
          aria-pressed={!asRows}
          className="w-fit text-xs text-ink-2 underline hover:text-ink"
          onClick={() => setWritten(asRows)}
        >
          {asRows ? 'Write as CEL' : 'As rows'}
        </button>
      )}
    </div>
  )
}
