// Limits how much work of many workspaces runs at once. The workspaces take turns.

export type WorkspaceTurns = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>

export const makeWorkspaceTurns = (limits: { atOnce: number; perWorkspace: number }): WorkspaceTurns => {
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
      // The workspace moves to the end of the line: every other waiting workspace starts one before this one starts
      // another.
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
