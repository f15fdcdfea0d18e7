// Calls of the engine into areas, each of which needs a connection. Without a bound, a thousand executions that open a gate
// wait in the pool until it refuses them, keep requests from their connections, and try again: seen when processes were
// restarted under load, with 6,000 refusals in a minute. Here they wait their turn, workspace by workspace.

export type AreaCalls = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>

export const makeAreaCalls = (limits: { atOnce: number; perWorkspace: number }): AreaCalls => {
  const waiting = new Map<string, (() => void)[]>()
  const running = new Map<string, number>()
  let atOnce = 0

  const hasTurn = (workspaceId: string): boolean =>
    atOnce < limits.atOnce && (running.get(workspaceId) ?? 0) < limits.perWorkspace

  const begin = (workspaceId: string): void => {
    atOnce += 1
    running.set(workspaceId, (running.get(workspaceId) ?? 0) + 1)
  }

  const end = (workspaceId: string): void => {
    atOnce -= 1
    const left = (running.get(workspaceId) ?? 1) - 1
    if (left === 0) running.delete(workspaceId)
    else running.set(workspaceId, left)
    beginNext()
  }

  const beginNext = (): void => {
    for (const [workspaceId, queue] of waiting) {
      if (atOnce >= limits.atOnce) return
      if (!hasTurn(workspaceId)) continue
      const next = queue.shift()
      // To the end of the line: every other workspace that waits has one begun before this one has another.
      waiting.delete(workspaceId)
      if (queue.length > 0) waiting.set(workspaceId, queue)
      begin(workspaceId)
      next?.()
    }
  }

  const turn = (workspaceId: string): Promise<void> => {
    if (hasTurn(workspaceId) && !waiting.has(workspaceId)) {
      begin(workspaceId)
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      const queue = waiting.get(workspaceId)
      if (queue) queue.push(resolve)
      else waiting.set(workspaceId, [resolve])
    })
  }

  return async (workspaceId, work) => {
    await turn(workspaceId)
    try {
      return await work()
    } finally {
      end(workspaceId)
    }
  }
}

/** A quarter of the connections is left to others, and one workspace never has all of the rest. */
export const areaCallsFor = (connections: number): AreaCalls => {
  const atOnce = Math.max(2, Math.floor(connections * 0.75))
  return makeAreaCalls({ atOnce, perWorkspace: Math.max(1, atOnce - 1) })
}
