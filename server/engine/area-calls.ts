import { makeWorkspaceTurns, type WorkspaceTurns } from '#platform/workspace-turns'

// Calls of the engine into areas, each of which needs a connection. Without a limit, a thousand executions that open
// a gate wait in the pool until the pool refuses them, take connections from requests, and try again. This happened
// when processes were restarted under load: 6,000 refusals in a minute. These calls wait in a queue in which
// workspaces take turns.

export type AreaCalls = WorkspaceTurns

/** Leaves a quarter of the connections to other work. One workspace never uses all of the remaining connections. */
export const areaCallsFor = (connections: number): AreaCalls => {
  const atOnce = Math.max(2, Math.floor(connections * 0.75))
  return makeWorkspaceTurns({ atOnce, perWorkspace: Math.max(1, atOnce - 1) })
}
