import { NodeFailure } from '#engine/node'
import { type AnyKind, isControl } from '#engine/nodes/kind'
import type { NodeTable } from '#engine/nodes/table'
import type { Definition } from '#model/definition'
import type { Kinds } from '#model/graph'
import { allNodes, type LiteralId, literalIds } from '#model/graph-ids'
import type { NodeDescriptor } from '#model/node'
import type { Database, Tx } from '#platform/db/pool'
import { fromWire } from '#platform/ids'
import { HIDDEN_FROM_GUESTS, idPrefixes, leastRole, reachesRole } from './definition-rights.ts'
import { findPrincipal, mayRun, type Principal } from './rights.ts'
import type { SystemWorkflow } from './system.ts'

// What a person may use. Checked for the author when a definition is saved, and for the principal whenever a node runs.

type Systems = ReadonlyMap<string, SystemWorkflow>

/** Checks the rights only. Whether the resource exists is checked by its own area. */
export async function mayUse(
  tx: Tx,
  workspaceId: string,
  person: Principal,
  { prefix, id }: Pick<LiteralId, 'prefix' | 'id'>,
  system: Systems,
): Promise<boolean> {
  if (prefix !== 'wf') return person.role !== 'guest' || !HIDDEN_FROM_GUESTS.has(prefix)
  if (system.has(id)) return true
  const workflowId = fromWire('wf', id)
  return workflowId !== undefined && mayRun(tx, workspaceId, workflowId, person.user_id)
}

/** Returns the node types and ids in a definition that this person may not use. */
export async function findUnusable(
  tx: Tx,
  workspaceId: string,
  person: Principal,
  definition: Definition,
  { kinds, system }: { kinds: Kinds; system: Systems },
): Promise<string[]> {
  const unusable = new Set<string>()
  for (const { type } of allNodes(definition)) {
    const kind = kinds.get(type)
    if (kind && !reachesRole(person.role, leastRole(kind))) unusable.add(type)
  }
  for (const literal of literalIds(definition, kinds))
    if (!(await mayUse(tx, workspaceId, person, literal, system))) unusable.add(literal.id)
  return [...unusable]
}

const NOUNS: Record<string, string> = { ds: 'dataset', conn: 'connection', chan: 'channel' }

/**
 * Wraps node types that accept an id of the workspace: each first checks whether the principal of the execution may use
 * such a resource.
 */
export const guardNodes = (nodes: NodeTable, db: Database): NodeTable =>
  new Map([...nodes].map(([type, kind]) => [type, guardKind(kind, db)]))

function guardKind(kind: AnyKind, db: Database): AnyKind {
  const noun = idPrefixes(kind.descriptor)
    .map((prefix) => NOUNS[prefix])
    .find((word) => word !== undefined)
  if (isControl(kind) || noun === undefined) return kind
  return {
    ...kind,
    async run(call) {
      const { workspaceId, executionId } = call
      await db.tenant({ workspaceId, userId: null }, (tx) =>
        requireRole(tx, workspaceId, executionId, kind.descriptor, noun),
      )
      return kind.run(call)
    },
  }
}

async function requireRole(
  tx: Tx,
  workspaceId: string,
  executionId: string,
  descriptor: NodeDescriptor,
  noun: string,
): Promise<void> {
  const principal = await findPrincipal(tx, workspaceId, executionId)
  const least = leastRole(descriptor)
  if (principal !== undefined && reachesRole(principal.role, least)) return
  const who =
    principal === undefined
      ? 'the person it acts for has left the workspace'
      : `the person it acts for is a ${principal.role} of the workspace`
  throw new NodeFailure(
    `${noun}_not_allowed`,
    `${descriptor.title}: this needs the role ${least}, and ${who}. A person who may use the ${noun} must activate the version.`,
    { retryable: false },
  )
}
