// How drafts are tried, and what a kind of node touches. Shared with the editor, which says so before anything runs. A kind that
// is not named here counts as one that acts outside: it is mocked until somebody says that it need not be.

/** They compute from what they are given. */
const COMPUTES: ReadonlySet<string> = new Set([
  'set',
  'branch',
  'map',
  'loop',
  'fail',
  'transform',
  'code',
  'http.respond',
])

/** They read what Heddle itself stores, and change nothing. */
const READS_HERE: ReadonlySet<string> = new Set([
  'dataset.read',
  'dataset.profile',
  'file.read',
  'state.get',
  'workspace.usage',
  'knowledge.search',
])

/** They ask a language model and nobody else. */
const MODELS: ReadonlySet<string> = new Set(['llm.generate', 'llm.extract', 'agent.review'])

export type Touch = 'computes' | 'reads' | 'model' | 'acts'

export const touchOf = (type: string): Touch =>
  COMPUTES.has(type) ? 'computes' : READS_HERE.has(type) ? 'reads' : MODELS.has(type) ? 'model' : 'acts'

export const effectModes = ['live', 'pinned', 'mock'] as const
export type Effects = (typeof effectModes)[number]

/** It reaches something outside, people or a model. */
export const isActing = (type: string): boolean => touchOf(type) === 'acts' || touchOf(type) === 'model'

/** What becomes of a node when the whole draft is tried. */
export const modeOf = (type: string, effects: Effects, isPinned: boolean): 'live' | 'pinned' | 'mocked' => {
  if (isPinned) return 'pinned'
  return effects === 'live' || !isActing(type) ? 'live' : 'mocked'
}
