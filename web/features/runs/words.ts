import type { ExecutionSummary } from '#sdk/types.generated'

type Waiting = ExecutionSummary['waiting_for'][number]

const words: Record<Waiting['kind'], string> = {
  clarification: 'Answer',
  approval: 'Approval',
  event: 'Event',
  timer: 'Timer',
  slot: 'Free slot',
  execution: 'Another run',
  platform: 'The service',
}

/** In a word, what a waiting execution waits for. */
export const waitsFor = ({ waiting_for }: Pick<ExecutionSummary, 'waiting_for'>): string => {
  const [first, ...rest] = waiting_for
  if (!first) return 'Waiting'
  return rest.length === 0 ? `Waiting: ${words[first.kind].toLowerCase()}` : `Waiting: ${waiting_for.length} things`
}

export const finished = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])
