import type { ExecutionSummary } from '#sdk/types.generated'
import { t } from '#web/words/language.ts'

type Waiting = ExecutionSummary['waiting_for'][number]

const words: Record<Waiting['kind'], string> = {
  clarification: t('Waiting: answer'),
  approval: t('Waiting: approval'),
  event: t('Waiting: event'),
  timer: t('Waiting: timer'),
  slot: t('Waiting: free slot'),
  execution: t('Waiting: another run'),
  platform: t('Waiting: the service'),
}

/** Returns in a word what a waiting execution waits for. */
export const waitsFor = ({ waiting_for }: Pick<ExecutionSummary, 'waiting_for'>): string => {
  const [first, ...rest] = waiting_for
  if (!first) return t('Waiting')
  return rest.length === 0 ? words[first.kind] : `Waiting: ${waiting_for.length} things`
}

export const finished = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])
