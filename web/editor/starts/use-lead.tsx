import { lazy, type ReactNode, Suspense, useCallback, useMemo, useState } from 'react'
import type { Workflow } from '#sdk/types.generated'
import type { DocGraph, Point } from '../document/document.ts'
import { useEditor } from '../store.ts'
import { type Lead, leadOf } from './lead.ts'
import { type Start, useStarts } from './use-starts.ts'

const StartsDialog = lazy(() => import('./starts-dialog.tsx').then((module) => ({ default: module.StartsDialog })))

/** Returns the cards before the first step, and their dialog. */
export function useLead(
  workflow: Workflow,
  graph: DocGraph,
  positions: Readonly<Record<string, Point>>,
): { isShown: boolean; lead: Lead | undefined; dialog: ReactNode; starts: Start[]; open(start: Start | null): void } {
  const isShown = useEditor((state) => state.path.length === 0 && state.comparison === null) && workflow.kind === 'user'
  const starts = useStarts(workflow)
  const [opened, setOpened] = useState<{ start: Start | null } | null>(null)
  const open = useCallback((start: Start | null): void => setOpened({ start }), [])
  // The cards are redrawn only when their content has changed: the lists with their data are refetched often.
  const said = JSON.stringify(starts.map(({ icon: _icon, ...rest }) => rest))
  // biome-ignore lint/correctness/useExhaustiveDependencies: `said` stands for the starts
  const lead = useMemo(
    () => (isShown ? leadOf(graph, positions, starts, open) : undefined),
    [isShown, graph, positions, said, open],
  )
  const dialog = opened && (
    <Suspense>
      <StartsDialog workflow={workflow} start={opened.start} onClose={() => setOpened(null)} />
    </Suspense>
  )
  return { isShown, lead, dialog, starts, open }
}
