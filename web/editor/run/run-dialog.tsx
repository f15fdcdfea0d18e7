import { useEffect, useState } from 'react'
import { isObject } from '#model/json'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { useDoc, useEditor } from '../store.ts'

const keyOf = (workflowId: string): string => `heddle.sample.${workflowId}`

function readSample(workflowId: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(keyOf(workflowId)) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

export const asksForInput = (inputs: unknown): boolean =>
  isObject(inputs) &&
  ((isObject(inputs.properties) && Object.keys(inputs.properties).length > 0) ||
    Array.isArray(inputs.required) ||
    Object.keys(inputs).some((key) => /Of$/.test(key)))

type Props = { open: boolean; workflowId: string; onClose(): void; onRun(input: unknown): Promise<void> }

/** A sample input, remembered for the next time. */
export function RunDialog({ open, workflowId, onClose, onRun }: Props) {
  const doc = useDoc()
  const dirty = useEditor((state) => state.dirty && !state.readOnly)
  const first = useEditor((state) => state.base === null)
  const last = useEditor((state) => state.execution?.input)
  const [sample, setSample] = useState<unknown>(undefined)
  useEffect(() => {
    if (open) setSample(readSample(workflowId) ?? last ?? {})
  }, [open, workflowId, last])
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Run with this input"
      description={
        !dirty
          ? undefined
          : first
            ? 'Your draft is saved as the first version and becomes active.'
            : 'Your changes are saved as a new version first. It does not become active.'
      }
      size="medium"
    >
      {open && sample !== undefined && (
        <SchemaForm
          schema={doc.inputs ?? {}}
          value={sample}
          submit="Run"
          onSubmit={async (input) => {
            await onRun(input)
            try {
              localStorage.setItem(keyOf(workflowId), JSON.stringify(input))
            } catch {
              // Not remembered then.
            }
            onClose()
          }}
        />
      )}
    </Dialog>
  )
}
