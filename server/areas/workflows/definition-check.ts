import { definitionText } from '#model/canonical'
import { credentialIdsIn, isCredentialId } from '#model/credential-ids'
import type { Definition } from '#model/definition'
import { type Kinds, validateDefinition } from '#model/graph'
import { literalIds } from '#model/graph-ids'
import type { Tx } from '#platform/db/pool'
import { invalid, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { HIDDEN_FROM_GUESTS, requireRights } from './definition-rights.ts'
import { mayRunNamed } from './rights.ts'
import type { SystemWorkflow } from './system.ts'

/** Whether something a definition names (a dataset, a connection, a credential) exists for this person; by prefix of its id. */
export type ReferenceCheck = (tx: Tx, workspaceId: string, id: string, userId: string) => Promise<boolean>

export type DefinitionCheckDependencies = {
  kinds: () => Kinds
  system: ReadonlyMap<string, SystemWorkflow>
  references: ReadonlyMap<string, ReferenceCheck>
}

export function makeDefinitionCheck({ kinds, system, references }: DefinitionCheckDependencies) {
  /**
   * Validates what a person sent, everything it refers to, and whether they may do what it does. What stands there already may
   * be sent back.
   */
  return async function checkDefinition(
    ctx: Context,
    given: unknown,
    { path = '/definition', present }: { path?: string; present?: Definition | undefined } = {},
  ): Promise<Definition> {
    const result = validateDefinition(given, kinds())
    if (!result.ok)
      throw invalid(
        result.errors.slice(0, 100).map((issue) => ({ path: path + issue.path, message: issue.message })),
        'Correct the definition at the paths named in errors.',
      )
    const { role } = ctx.workspace
    const isKept = present !== undefined && definitionText(present) === definitionText(result.definition)
    const unknown: string[] = []
    const refuseUnknown = async (prefix: string, id: string, where: string): Promise<void> => {
      const check = references.get(prefix)
      if (check && !(await check(ctx.tx, ctx.workspace.workspace_id, id, ctx.person.user_id))) unknown.push(where)
    }
    for (const literal of literalIds(result.definition, kinds())) {
      // Found below, wherever they stand.
      if (literal.prefix === 'cred' && isCredentialId(literal.id)) continue
      if (literal.prefix === 'wf') {
        if (!isKept && !(await mayRunNamed(ctx, system, literal.id))) unknown.push(path + literal.path)
        continue
      }
      if (role === 'guest' && !isKept && HIDDEN_FROM_GUESTS.has(literal.prefix)) {
        unknown.push(path + literal.path)
        continue
      }
      await refuseUnknown(literal.prefix, literal.id, path + literal.path)
    }
    if (!isKept)
      for (const [index, { args }] of result.definition.nodes.entries())
        for (const named of credentialIdsIn(args)) {
          await refuseUnknown('cred', named.id, `${path}/nodes/${index}/args${named.path}`)
        }
    if (unknown.length > 0) throw unknownReference(...unknown)
    if (!isKept) requireRights(role, result.definition, kinds())
    return result.definition
  }
}
