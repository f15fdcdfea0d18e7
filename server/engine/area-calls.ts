import { makeWorkspaceTurns, type WorkspaceTurns } from '#platform/workspace-turns'

// Calls of the engine into areas, each of which needs a connection. Without a bound, a thousand executions that open a gate
// wait in the pool until it refuses them, keep requests from their connections, and try again: seen when processes were
// restarted under load, with 6,000 refusals in a minute. Here they wait their turn, workspace by workspace.

export type AreaCalls = WorkspaceTurns

/** A quarter of the connections is left to others, and one workspace never has all of the rest. */
export const areaCallsFor = (connections: number): AreaCalls => {
  const atOnce = Math.max(2, Math.floor(connections * 0.75))
  return makeWorkspaceTurns({ atOnce, perWorkspace: Math.max(1, atOnce - 1) })
}
