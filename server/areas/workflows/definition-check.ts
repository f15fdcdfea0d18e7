import { canonicalText, definitionText } from '#model/canonical'
import { credentialIdsIn, isCredentialId } from '#model/credential-ids'
import type { Definition, Json } from '#model/definition'
import { type Kinds, validateDefinition } from '#model/graph'
import { literalIds } from '#model/graph-ids'
import type { Issue } from '#model/issue'
import { isObject } from '#model/json'
import type { Tx } from '#platform/db/pool'
import { invalid, unknownReference } from '#platform/errors'
import type { Context } from '#platform/http/context'
import { mayUse } from './authority.ts'
import { requireRights } from './definition-rights.ts'
import type { SystemWorkflow } from './system.ts'

/**
 * Checks whether a resource in a definition (a dataset, a connection, a credential) exists for this person. By id
 * prefix.
 */
export type ReferenceCheck = (tx: Tx, workspaceId: string, id: string, userId: string) => Promise<boolean>

export type DefinitionCheckDependencies = {
  kinds: () => Kinds
  system: ReadonlyMap<string, SystemWorkflow>
  references: ReadonlyMap<string, ReferenceCheck>
  /** Checks that depend on the workspace, such as whether the credentials fit their use. */
  checkMore?(tx: Tx, workspaceId: string, definition: Definition): Promise<Issue[]>
}

export function makeDefinitionCheck({ kinds, system, references, checkMore }: DefinitionCheckDependencies) {
  /**
   * Validates a definition, everything it refers to, and whether the caller may do what it does. The unchanged present
   * definition is always accepted.
   */
  return async function checkDefinition(
    ctx: Context,
    given: unknown,
    { path = '/definition', present }: { path?: string; present?: Definition | undefined } = {},
  ): Promise<Definition> {
    const result = validateDefinition(given, kinds())
    // A rule that was added later does not refuse the unchanged present definition.
    if (!result.ok && present !== undefined && isSame(given, present)) return present
    if (!result.ok)
      throw invalid(
        result.errors.slice(0, 100).map((issue) => ({ path: path + issue.path, message: issue.message })),
        'Correct the definition at the paths named in errors.',
      )
    const { workspace_id, role } = ctx.workspace
    const author = { user_id: ctx.person.user_id, role }
    const isKept = present !== undefined && definitionText(present) === definitionText(result.definition)
    const unknown: string[] = []
    const refuseUnknown = async (prefix: string, id: string, where: string): Promise<void> => {
      const check = references.get(prefix)
      if (check && !(await check(ctx.tx, ctx.workspace.workspace_id, id, ctx.person.user_id))) unknown.push(where)
    }
    for (const literal of literalIds(result.definition, kinds())) {
      // Credentials are checked below, at any depth.
      if (literal.prefix === 'cred' && isCredentialId(literal.id)) continue
      if (!isKept && !(await mayUse(ctx.tx, workspace_id, author, literal, system))) {
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
    const more = isKept ? [] : ((await checkMore?.(ctx.tx, workspace_id, result.definition)) ?? [])
    if (more.length > 0) throw invalid(more.map((issue) => ({ ...issue, path: path + issue.path })))
    if (!isKept) requireRights(role, result.definition, kinds())
    return result.definition
  }
}

const isSame = (given: unknown, present: Definition): boolean =>
  isObject(given) && canonicalText(given) === canonicalText(present as unknown as Json)
