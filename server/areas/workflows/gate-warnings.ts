import { bodyOf } from '#model/body'
import type { Definition, Graph, Json } from '#model/definition'
import { isObject } from '#model/json'

export type DefinitionWarning = { path: string; message: string }

const MESSAGE =
  'Nobody could approve this: the only approver is the only person who can start the workflow, and people do not approve what they started. Add an approver, or set allow_self to true.'

/**
 * Finds gates that no person could open: the person who starts an execution is excluded unless `allow_self` is true,
 * and the only approver is the only person who may start one. `starters` are wire ids. Members who join later can
 * change this, so it is a warning and not an error.
 */
export function warnOfUnopenableGates(definition: Definition, starters: readonly string[]): DefinitionWarning[] {
  const [only, ...others] = new Set(starters)
  if (only === undefined || others.length > 0) return []
  const warnings: DefinitionWarning[] = []
  const visit = (graph: Graph, path: string): void => {
    for (const [index, node] of graph.nodes.entries()) {
      const { type, args } = node
      const body = bodyOf(node)
      const at = `${path}/nodes/${index}/args`
      if (body) visit(body as unknown as Graph, `${at}/body`)
      if (type === 'approval' && isClosedTo(only, args?.policy))
        warnings.push({ path: `${at}/policy/approvers`, message: MESSAGE })
    }
  }
  visit(definition, '/definition')
  return warnings
}

function isClosedTo(person: string, policy: Json | undefined): boolean {
  if (!isObject(policy) || policy.allow_self === true || !Array.isArray(policy.approvers)) return false
  const people = policy.approvers.filter(isObject).filter(({ kind }) => kind !== 'agent')
  return people.length > 0 && people.every(({ kind, id }) => kind === 'user' && id === person)
}
