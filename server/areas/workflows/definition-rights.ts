import { bodyOf } from '#model/body'
import type { Definition, Graph } from '#model/definition'
import type { Kinds } from '#model/graph'
import { isObject } from '#model/json'
import type { NodeDescriptor } from '#model/node'
import { problem } from '#platform/errors'
import type { WorkspaceRole } from '#platform/http/context'

// A definition acts for its workspace regardless of who runs it, so a person may not write into it what they may not do
// themselves.

/** Resources of the workspace that guests do not see. */
export const HIDDEN_FROM_GUESTS: ReadonlySet<string> = new Set(['ds', 'src', 'conn', 'chan', 'team', 'cred', 'kb'])

type LeastRole = 'guest' | 'viewer' | 'member'
const RANKS: Record<WorkspaceRole, number> = { guest: 0, viewer: 1, member: 2, owner: 3 }
export const reachesRole = (role: WorkspaceRole, least: LeastRole): boolean => RANKS[role] >= RANKS[least]

/** Returns the id prefixes that the arguments of a node can name. */
export function idPrefixes({ args_schema }: NodeDescriptor): string[] {
  const fields = isObject(args_schema.properties) ? Object.values(args_schema.properties) : []
  return fields.flatMap((field) => (isObject(field) && typeof field['x-id'] === 'string' ? [field['x-id']] : []))
}

/** Returns the lowest role that may do the same by hand: viewers may read datasets, the rest requires a member. */
export function leastRole(descriptor: NodeDescriptor): LeastRole {
  const prefixes = idPrefixes(descriptor)
  if (prefixes.includes('conn') || prefixes.includes('chan')) return 'member'
  if (!prefixes.includes('ds')) return 'guest'
  return descriptor.effect === 'pure' ? 'viewer' : 'member'
}

/** Returns the type of a tool, given as `"http.request"` or as `{type: "http.request", arguments}`. */
const grantedType = (tool: unknown): string | null => {
  const type = isObject(tool) ? tool.type : tool
  return typeof type === 'string' ? type : null
}

/**
 * Returns the types of all nodes and of the tools granted to agents. Null stands for a list that is known only at run
 * time.
 */
function* typesIn(graph: Graph): Generator<string | null> {
  for (const node of graph.nodes) {
    yield node.type
    const tools = node.args?.tools
    const body = bodyOf(node)
    if (Array.isArray(tools)) for (const tool of tools) yield grantedType(tool)
    else if (tools !== undefined) yield null
    if (body && Array.isArray(body.nodes)) yield* typesIn(body as unknown as Graph)
  }
}

/** Also applies if an id is an expression, since its value is not known beforehand. */
export function requireRights(role: WorkspaceRole, definition: Definition, kinds: Kinds): void {
  if (role === 'owner' || role === 'member') return
  for (const type of typesIn(definition)) {
    const kind = type === null ? undefined : kinds.get(type)
    const least = type === null ? 'member' : kind ? leastRole(kind) : 'guest'
    if (reachesRole(role, least)) continue
    const what = type === null ? 'tools that are not named' : `"${type}"`
    throw problem('forbidden', `A ${role} of the workspace may not use ${what} in a definition. Ask a member to do it.`)
  }
}
