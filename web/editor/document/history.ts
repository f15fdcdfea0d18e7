// Undo and redo. Documents share unchanged parts, so a step costs only the changed parts.

export type History<Doc> = {
  past: readonly Doc[]
  present: Doc
  future: readonly Doc[]
  /** The subject of the newest step; a further change of the same subject soon after belongs to that step. */
  last: { about: string; at: number } | null
}

const MAX_STEPS = 200
const TOGETHER_MS = 1_000

export const startHistory = <Doc>(present: Doc): History<Doc> => ({ past: [], present, future: [], last: null })

/**
 * Records a change. `about` names the subject of the change, such as a field: letters typed in quick succession are one
 * step.
 */
export function record<Doc>(history: History<Doc>, next: Doc, at: number, about?: string): History<Doc> {
  if (next === history.present) return history
  const { last } = history
  const together = about !== undefined && last?.about === about && at - last.at < TOGETHER_MS
  const past = together ? history.past : [...history.past, history.present].slice(-MAX_STEPS)
  return { past, present: next, future: [], last: about === undefined ? null : { about, at } }
}

export function undo<Doc>(history: History<Doc>): History<Doc> {
  const previous = history.past.at(-1)
  if (previous === undefined) return history
  const future = [history.present, ...history.future]
  return { past: history.past.slice(0, -1), present: previous, future, last: null }
}

export function redo<Doc>(history: History<Doc>): History<Doc> {
  const [next, ...future] = history.future
  if (next === undefined) return history
  return { past: [...history.past, history.present], present: next, future, last: null }
}
