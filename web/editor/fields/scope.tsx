import { createContext, useContext } from 'react'
import type { JsonObject } from '#model/definition'
import type { Scope } from '#model/expressions'
import type { Source } from '../document/upstream.ts'
import type { Kinds } from '../kinds.ts'

/**
 * What the fields of one form share: the data they may reference, their problems, and the data of the last execution.
 */
export type FieldScope = {
  sources: readonly Source[]
  /** The data for previews; null before the first execution. */
  sample: Scope | null
  problemAt(pointer: string): string | undefined
  /** Returns a warning: the value can be saved but is probably a mistake. */
  warningAt(pointer: string): string | undefined
  kinds: Kinds
  /** The arguments of the node that the form belongs to. */
  own?: JsonObject | undefined
  readOnly: boolean
  openBody?: () => void
  renameCase?: (index: number, port: string) => void
}

const Context = createContext<FieldScope | null>(null)
export const FieldScopeProvider = Context.Provider

export function useFieldScope(): FieldScope {
  const scope = useContext(Context)
  if (!scope) throw new Error('useFieldScope outside a form')
  return scope
}

export function sampleScope(sources: readonly Source[], hasRun: boolean): Scope | null {
  if (!hasRun) return null
  const scope: Scope = { input: null, nodes: {}, execution: {} }
  for (const { reference, sample } of sources) {
    const node = /^nodes\.(.+)\.output$/.exec(reference)
    if (node) scope.nodes[node[1]!] = { output: sample ?? null }
    else if (reference === 'input') scope.input = sample ?? null
    else if (reference === 'item') scope.item = sample ?? null
    else if (reference === 'index') scope.index = 0
    else if (reference === 'state') scope.state = sample ?? null
    else if (reference === 'turn') scope.turn = 0
    else if (reference === 'vars') scope.vars = sample as JsonObject
  }
  return scope
}
