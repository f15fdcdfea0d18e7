import type { Ast } from './cel-ast.ts'
import { macroFor } from './cel-macros.ts'
import { parseCel } from './cel-parser.ts'
import { children, memberOf } from './cel-tree.ts'
import { ExpressionFailure } from './expression-failure.ts'
import { makeLru } from './lru.ts'

/** Facts about a quorum's expression that its tree shows. */
export type QuorumUse = {
  /** The author counts approvals of agents: `approvals.agent`, or votes whose `kind` is compared with "agent". */
  countsAgents: boolean
  /** The expression reads single votes, so its result cannot be predicted from counts. */
  readsVotes: boolean
}

const NOTHING: QuorumUse = { countsAgents: false, readsVotes: false }
const known = makeLru<QuorumUse>(1_000)

/** Reads the facts from the tree. An expression that cannot be parsed counts nothing. */
export function readQuorum(cel: string): QuorumUse {
  const before = known.get(cel)
  if (before) return before
  const use = { ...NOTHING }
  try {
    visit(parseCel(cel), new Set(), use)
  } catch (error) {
    if (!(error instanceof ExpressionFailure)) throw error
  }
  known.set(cel, use)
  return use
}

/** `local`: names that a macro such as `exists(v, …)` binds; they shadow outer names. */
function visit(node: Ast, local: ReadonlySet<string>, use: QuorumUse): void {
  const isRoot = (one: Ast, name: string): boolean => one.op === 'id' && one.args === name && !local.has(name)
  const member = memberOf(node)
  if (member?.key === 'agent' && isRoot(member.target, 'approvals')) use.countsAgents = true
  if (isRoot(node, 'votes')) use.readsVotes = true
  if (node.op === '==' && comparesKindWithAgent(node.args)) use.countsAgents = true
  const inner = boundBy(node)
  const names = inner.length === 0 ? local : new Set([...local, ...inner])
  for (const child of children(node)) visit(child, names, use)
}

const comparesKindWithAgent = ([left, right]: readonly Ast[]): boolean =>
  [
    [left, right],
    [right, left],
  ].some(([field, text]) => memberOf(field!)?.key === 'kind' && text?.op === 'value' && text.args === 'agent')

function boundBy(node: Ast): string[] {
  if (node.op !== 'rcall') return []
  const [name, , args] = node.args
  const bound = macroFor(name, args.length)?.names ?? 0
  return args.slice(0, bound).flatMap((arg) => (arg.op === 'id' ? [arg.args] : []))
}
