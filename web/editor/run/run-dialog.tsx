import { type ReactNode, useEffect, useState } from 'react'
import { isObject } from '#model/json'
import { Dialog } from '#web/ui/dialog.tsx'
import { SchemaForm } from '#web/ui/schema-form.tsx'
import { hasLists } from '#web/ui/schema-lists.ts'
import { useDoc, useEditor } from '../store.ts'
import { useEffectWords } from './effects.tsx'
import { keepSample, readSample } from './sample.ts'

export const asksForInput = (inputs: unknown): boolean =>
  isObject(inputs) &&
  ((isObject(inputs.properties) && Object.keys(inputs.properties).length > 0) ||
    Array.isArray(inputs.required) ||
    Object.keys(inputs).some((key) => /Of$/.test(key)))

type Props = {
  open: boolean
  workflowId: string
  onClose(): void
  onRun(input: unknown): Promise<void>
  onSave(): void
  /** A dialog over this dialog. */
  children: ReactNode
}

/** Asks for a sample input, which is remembered for the next time. */
export function RunDialog({ open, workflowId, onClose, onRun, onSave, children }: Props) {
  const doc = useDoc()
  const readOnly = useEditor((state) => state.readOnly)
  const { words, acting } = useEffectWords()
  const last = useEditor((state) => state.execution?.input)
  const [sample, setSample] = useState<unknown>(undefined)
  useEffect(() => {
    if (open) setSample(readSample(workflowId) ?? last ?? {})
  }, [open, workflowId, last])
  return (
    <Dialog
      open={open}
      onClose={onClose}
      onSaveKey={onSave}
      title="Run with this input"
      description={
        readOnly
          ? undefined
          : `Runs your draft without saving a version. ${words}${acting.length > 0 ? `: ${acting.join(', ')}` : ''}.`
      }
      size={hasLists(doc.inputs) ? 'large' : 'medium'}
    >
      {open && sample !== undefined && (
        <SchemaForm
          schema={doc.inputs ?? {}}
          value={sample}
          submit="Run"
          json
          onSubmit={async (input) => {
            await onRun(input)
            keepSample(workflowId, input)
            onClose()
          }}
        />
      )}
      {children}
    </Dialog>
  )
}
