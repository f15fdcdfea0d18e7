// How drafts are tested, and what a kind of node accesses. Shared with the editor, which shows this before anything
// runs. A kind that is not listed here counts as acting on the outside: it is mocked until a user chooses otherwise.

/** Nodes that compute only from their input. */
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

/** Nodes that read data stored in Heddle, and change nothing. */
const READS_HERE: ReadonlySet<string> = new Set([
  'dataset.read',
  'dataset.profile',
  'file.read',
  'state.get',
  'workspace.usage',
  'knowledge.search',
])

/** Nodes that call a language model and nothing else. */
const MODELS: ReadonlySet<string> = new Set(['llm.generate', 'llm.extract', 'agent.review'])

export type NodeAccess = 'computes' | 'reads' | 'model' | 'acts'

export const nodeAccessOf = (type: string): NodeAccess =>
  COMPUTES.has(type) ? 'computes' : READS_HERE.has(type) ? 'reads' : MODELS.has(type) ? 'model' : 'acts'

export const effectModes = ['live', 'pinned', 'mock'] as const
export type Effects = (typeof effectModes)[number]

/** Checks whether a node reaches external systems, people or a model. */
export const isActing = (type: string): boolean => nodeAccessOf(type) === 'acts' || nodeAccessOf(type) === 'model'

/** Returns how a node is run when the whole draft is tested. */
export const modeOf = (type: string, effects: Effects, isPinned: boolean): 'live' | 'pinned' | 'mocked' => {
  if (isPinned) return 'pinned'
  return effects === 'live' || !isActing(type) ? 'live' : 'mocked'
}
