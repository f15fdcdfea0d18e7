import type pg from 'pg'

// The list of workspaces that send events of executions to destinations. It is in memory, so that other workspaces
// pay nothing. Each commit names the generation of the list it was made with. A commit with an old generation writes
// nothing: the list is read again and the commit is repeated. So no event is lost that is committed after the first
// destination of a workspace.

/** The event types that are sent to destinations. The other events of a journal are details of nodes. */
export const SENT_EVENT_TYPES: readonly string[] = [
  'execution.started',
  'execution.waiting',
  'execution.resumed',
  'execution.succeeded',
  'execution.failed',
  'execution.cancelled',
  'execution.timed_out',
  'approval.opened',
  'approval.edited',
  'approval.voted',
  'approval.resolved',
  'clarification.asked',
  'clarification.answered',
]

// One statement reads both, so the list belongs to that generation.
const READ = {
  name: 'engine-watched',
  text: `select generation, array(select workspace_id::text from event_workspaces w where w.journal and w.generation > $1) as added
    from event_generation`,
}

export type EventWorkspaces = {
  generation(): number
  has(workspaceId: string): boolean
  /** True if no workspace is watched. This is the common case, and needs no check of individual workspaces. */
  isEmpty(): boolean
  reload(client: pg.PoolClient | pg.Pool): Promise<void>
}

export const makeEventWorkspaces = (): EventWorkspaces => {
  let generation = 0
  const workspaces = new Set<string>()
  return {
    generation: () => generation,
    has: (workspaceId) => workspaces.has(workspaceId),
    isEmpty: () => workspaces.size === 0,
    reload: async (client) => {
      const { rows } = await client.query<{ generation: number; added: string[] }>({ ...READ, values: [generation] })
      for (const id of rows[0]?.added ?? []) workspaces.add(id)
      generation = rows[0]?.generation ?? generation
    },
  }
}
