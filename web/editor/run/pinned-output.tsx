import { useState } from 'react'
import { Button } from '#web/ui/button.tsx'
import { JsonArea } from '../fields/inputs.tsx'
import { type EditorStore, useEditor, useEditorStore } from '../store.ts'
import { keepPins, type Pins } from './pins.ts'

const setPins = (store: EditorStore, pins: Pins): void => {
  keepPins(store.workflowId, pins)
  store.set({ pins })
}

const withPin = (store: EditorStore, id: string, output: unknown): void =>
  setPins(store, { ...store.get().pins, [id]: output })

/** Pins the output of the step: later test runs use it as if the step had run. */
export function PinButton({ id, output }: { id: string; output: unknown }) {
  const store = useEditorStore()
  const pins = useEditor((state) => state.pins)
  const isFixed = useEditor((state) => state.readOnly)
  if (isFixed) return null
  const isPinned = Object.hasOwn(pins, id)
  if (!isPinned && output === undefined) return null
  return (
    <Button
      size="small"
      aria-pressed={isPinned}
      onClick={() => {
        const { [id]: _unpinned, ...rest } = pins
        setPins(store, isPinned ? rest : { ...rest, [id]: output })
      }}
    >
      {isPinned ? 'Unpin output' : 'Pin output'}
    </Button>
  )
}

/** An output written by hand: test runs use it and do not run the step. */
export function MockOutput({ id, begin }: { id: string; begin: unknown }) {
  const store = useEditorStore()
  const pins = useEditor((state) => state.pins)
  const isFixed = useEditor((state) => state.readOnly)
  const [editing, setEditing] = useState(false)
  if (isFixed) return null
  const isPinned = Object.hasOwn(pins, id)
  if (!editing)
    return (
      <Button
        size="small"
        onClick={() => {
          if (!isPinned) withPin(store, id, begin ?? {})
          setEditing(true)
        }}
      >
        {isPinned ? 'Edit pinned output' : 'Mock output'}
      </Button>
    )
  return (
    <section aria-label="Mocked output" className="flex w-full flex-col gap-1">
      <p className="text-xs text-ink-2">Test runs use this output for the step:</p>
      <JsonArea label="Mocked output" value={pins[id] ?? {}} onJson={(output) => withPin(store, id, output)} />
      <div>
        <Button size="small" onClick={() => setEditing(false)}>
          Done
        </Button>
      </div>
    </section>
  )
}
