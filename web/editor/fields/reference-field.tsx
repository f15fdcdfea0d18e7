import { useState } from 'react'
import { Button } from '#web/ui/button.tsx'
import { TextInput } from './inputs.tsx'
import { ReferencePicker } from './reference-picker.tsx'
import { SampleResult } from './sample-result.tsx'
import { useFieldScope } from './scope.tsx'

type Props = { id: string; reference: string; label: string; onChange(reference: string): void }

/** A reference, selected or typed, with the data of the last execution beside it. */
export function ReferenceField({ id, reference, label, onChange }: Props) {
  const { readOnly } = useFieldScope()
  const [picking, setPicking] = useState(false)
  return (
    <div className="flex flex-col gap-1">
      <div className="flex gap-1.5">
        <TextInput
          id={id}
          aria-label={`${label}, from data`}
          disabled={readOnly}
          value={reference}
          onChange={(event) => onChange(event.currentTarget.value)}
          className="bg-sunken! font-mono text-xs!"
        />
        {!readOnly && (
          <ReferencePicker
            open={picking}
            onOpenChange={setPicking}
            onPick={onChange}
            anchor={
              <Button size="small" className="h-8!" onClick={() => setPicking(true)}>
                Pick
              </Button>
            }
          />
        )}
      </div>
      <SampleResult value={{ $ref: reference }} />
    </div>
  )
}
