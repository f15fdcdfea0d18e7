import { createContext, useContext } from 'react'
import type { Graph } from '#model/definition'
import { allNodes } from '#model/graph-ids'
import { type Effects, isActing, modeOf } from '#model/node-access'
import { Button } from '#web/ui/button.tsx'
import { t } from '#web/words/language.ts'
import { titleOf } from '../document/document.ts'
import { useDoc, useEditor, useEditorStore } from '../store.ts'
import { keepEffects, type Pins } from './pins.ts'
import type { Part } from './use-run.ts'

const modes: { value: Effects; label: string }[] = [
  { value: 'live', label: 'Effects are real' },
  { value: 'mock', label: 'Effects are mocked' },
  { value: 'pinned', label: 'Only pinned effects' },
]

const several = (count: number, one: string, many: string): string =>
  count === 0 ? '' : count === 1 ? one : t(many, [count])

/** Describes what a run of the draft would do, before it starts. */
export function effectsOf(doc: Graph, effects: Effects, pins: Pins): { words: string; acting: string[] } {
  const top = new Set(doc.nodes.map(({ id }) => id))
  const acting: string[] = []
  let [pinned, mocked] = [0, 0]
  for (const node of allNodes(doc)) {
    const mode = modeOf(node.type, effects, top.has(node.id) && Object.hasOwn(pins, node.id))
    if (mode === 'pinned') pinned += 1
    else if (mode === 'mocked') mocked += 1
    else if (isActing(node.type)) acting.push(titleOf(node))
  }
  const words = [
    several(acting.length, t('1 real step'), t('{0} real steps')),
    several(pinned, t('1 step pinned'), t('{0} steps pinned')),
    several(mocked, t('1 step mocked'), t('{0} steps mocked')),
  ].filter(Boolean)
  return { words: words.join(', ') || 'No effects', acting }
}

export function useEffectWords(): { words: string; acting: string[] } {
  const doc = useDoc()
  const effects = useEditor((state) => state.effects)
  const pins = useEditor((state) => state.pins)
  return effectsOf(doc as unknown as Graph, effects, pins)
}

/** How effects are treated, and what that means for this draft. */
export function EffectsChoice() {
  const store = useEditorStore()
  const effects = useEditor((state) => state.effects)
  const { words, acting } = useEffectWords()
  return (
    <span className="flex items-center gap-2 max-lg:hidden">
      <span
        data-testid="effects"
        title={acting.length > 0 ? `Real steps: ${acting.join(', ')}` : undefined}
        className="text-xs whitespace-nowrap text-ink-3 max-xl:hidden"
      >
        {words}
      </span>
      <select
        aria-label="Effects"
        value={effects}
        onChange={(event) => {
          const chosen = event.currentTarget.value as Effects
          keepEffects(chosen)
          store.set({ effects: chosen })
        }}
        className="h-9 rounded-md border border-line bg-surface px-2 text-sm text-ink"
      >
        {modes.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </span>
  )
}

/** Tests a part of the draft; null if the user is not allowed to. */
export const TryContext = createContext<((part: Part) => void) | null>(null)
export const TryProvider = TryContext.Provider

export function TryButtons({ id }: { id: string }) {
  const tryPart = useContext(TryContext)
  const isTop = useEditor((state) => state.path.length === 0)
  const isFixed = useEditor((state) => state.readOnly || state.comparison !== null)
  if (!tryPart || !isTop || isFixed) return null
  return (
    <div className="flex flex-wrap gap-2 px-4 pb-3">
      <Button size="small" onClick={() => tryPart({ node_id: id })}>
        Run this step
      </Button>
      <Button size="small" onClick={() => tryPart({ until: id })}>
        Run to here
      </Button>
    </div>
  )
}
