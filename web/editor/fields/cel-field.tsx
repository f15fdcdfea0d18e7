import { useRef, useState } from 'react'
import type { Json } from '#model/definition'
import { cx } from '#web/ui/cx.ts'
import { inputClass } from '#web/ui/field.tsx'
import { useCheck } from '../check/load.ts'
import { asCel } from '../document/value.ts'
import { AddButton } from './add-button.tsx'
import { FunctionPicker } from './function-picker.tsx'
import { ReferencePicker } from './reference-picker.tsx'
import { useFieldScope } from './scope.tsx'
import { short } from './short.ts'

type Props = { id: string; cel: string; label: string; onChange(cel: string): void }

/** A CEL expression, with what it gives for the data of the last run. */
export function CelField({ id, cel, label, onChange }: Props) {
  const { readOnly } = useFieldScope()
  const area = useRef<HTMLTextAreaElement>(null)
  const [picking, setPicking] = useState(false)
  const [choosing, setChoosing] = useState(false)
  const insert = (text: string): void => {
    const { selectionStart: from, selectionEnd: to } = area.current ?? {
      selectionStart: cel.length,
      selectionEnd: cel.length,
    }
    onChange(cel.slice(0, from) + text + cel.slice(to))
    requestAnimationFrame(() => {
      area.current?.focus()
      area.current?.setSelectionRange(from + text.length, from + text.length)
    })
  }
  return (
    <div className="flex flex-col gap-1">
      <textarea
        ref={area}
        id={id}
        aria-label={`${label}, CEL`}
        disabled={readOnly}
        value={cel}
        spellCheck={false}
        rows={Math.min(12, Math.max(2, cel.split('\n').length))}
        onChange={(event) => onChange(event.currentTarget.value)}
        className={cx(inputClass, 'resize-y bg-sunken! py-1.5 font-mono text-xs leading-5')}
      />
      <div className="flex items-start gap-2">
        <Outcome value={{ $cel: cel }} />
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

/** What a value would have been in the last run. */
export function Outcome({ value }: { value: Json }) {
  const { sample } = useFieldScope()
  const check = useCheck()
  if (!sample || !check) return null
  const result = check.preview(value, sample)
  return (
    <p
      className="min-w-0 truncate text-xs text-ink-3"
      title={result.ok ? 'With data from the last run' : result.message}
    >
      {result.ok ? (
        <>
          = <span className="font-mono text-ink-2">{short(result.value)}</span>
        </>
      ) : (
        `With the last run: ${result.message}`
      )}
    </p>
  )
}
