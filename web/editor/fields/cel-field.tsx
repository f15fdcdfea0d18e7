import { useCallback, useMemo, useRef, useState } from 'react'
import { useCheck } from '../check/load.ts'
import { completeData } from '../code/cel-completion.ts'
import { hoverData } from '../code/cel-hover.ts'
import { CodeField } from '../code/code-field.tsx'
import type { CodeHandle, Fault } from '../code/code-props.ts'
import { faultFor } from '../code/fault-place.ts'
import { celSignature } from '../code/signature.ts'
import { asCel } from '../document/value.ts'
import { AddButton } from './add-button.tsx'
import { FunctionPicker } from './function-picker.tsx'
import { ReferencePicker } from './reference-picker.tsx'
import { SampleResult } from './sample-result.tsx'
import { useFieldScope } from './scope.tsx'

type Props = {
  cel: string
  label: string
  onChange(cel: string): void
  problem?: string | undefined
  warning?: string | undefined
}

/** A CEL expression, with its result for the data of the last execution. */
export function CelField({ cel, label, onChange, problem, warning }: Props) {
  const { readOnly, sources } = useFieldScope()
  const editor = useRef<CodeHandle>(null)
  const [picking, setPicking] = useState(false)
  const [choosing, setChoosing] = useState(false)
  const groups = useCheck()?.functionHelp
  const complete = useMemo(() => completeData(sources, groups ?? []), [sources, groups])
  const hover = useMemo(() => hoverData(sources, groups ?? []), [sources, groups])
  const signature = useMemo(() => celSignature(groups ?? []), [groups])
  const faults = useCallback(
    (text: string): Fault[] => [
      ...(problem === undefined ? [] : [faultFor(text, problem)]),
      ...(problem === undefined && warning !== undefined ? [faultFor(text, warning, 'warning')] : []),
    ],
    [problem, warning],
  )
  const insert = (text: string): void => editor.current?.insert(text)
  return (
    <div className="flex flex-col gap-1">
      <CodeField
        ref={editor}
        label={`${label}, CEL`}
        language="cel"
        value={cel}
        disabled={readOnly}
        invalid={problem !== undefined}
        complete={complete}
        hover={hover}
        signature={signature}
        faults={faults}
        onChange={onChange}
      />
      <div className="flex items-start gap-2">
        <SampleResult value={{ $cel: cel }} />
        {!readOnly && (
          <span className="ml-auto flex shrink-0 gap-1">
            <FunctionPicker
              open={choosing}
              onOpenChange={setChoosing}
              onPick={insert}
              anchor={<AddButton onClick={() => setChoosing(true)}>Functions</AddButton>}
            />
            <ReferencePicker
              open={picking}
              onOpenChange={setPicking}
              onPick={(reference) => insert(asCel(reference))}
              anchor={<AddButton onClick={() => setPicking(true)}>Data</AddButton>}
            />
          </span>
        )}
      </div>
    </div>
  )
}
