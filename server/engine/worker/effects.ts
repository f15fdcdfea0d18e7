import { SECOND } from '#platform/clock'
import type { Command } from '../interpreter/commands.ts'
import { inArea } from './area-call.ts'
import { abandonChild, abandonChildrenUnder, startChild } from './child-effects.ts'
import type { EffectDeps } from './effect-deps.ts'
import type { Frame } from './frame.ts'
import type { Live } from './live-types.ts'
import { runLoop } from './loops.ts'
import { runMap } from './maps.ts'
import { mayStartInBodies } from './owned.ts'
import { NoLongerNeeded } from './platform-retry.ts'
import { closeRequest, openRequest, settleDue } from './request-effects.ts'
import { runNode } from './run-node.ts'

// Executes the commands of the interpreter. The results are sent back as messages.

/** Keeps the execution from parking while an effect is running. */
function during(deps: EffectDeps, live: Live, work: () => Promise<(() => void) | undefined>): void {
  live.busy(1)
  work().then(
    // The count is reduced when the result is reported, so an execution that then only waits parks in the same
    // append.
    (tell) => live.busy(-1, tell),
    (error: Error) => {
      if (!(error instanceof NoLongerNeeded))
        deps.log.error({ err: error, execution_id: live.owned.executionId }, 'an effect failed')
      live.busy(-1)
    },
  )
}

async function grace(deps: EffectDeps, live: Live, frame: Frame): Promise<() => void> {
  const { workspaceId, workflowId } = live.owned
  const ask = () => inArea(deps, live, () => deps.ports.finallyGrace(workspaceId, workflowId))
  const seconds = await deps.platformRetry(live, { frame, node: '' }, ask)
  return () => live.sendUnawaited(frame, { kind: 'grace', until: deps.clock() + seconds * SECOND })
}

export const makeEffects = (deps: EffectDeps) => {
  /** Serializes the opening and closing of one gate or question in the order of their commands. */
  const turns = new Map<string, Promise<unknown>>()
  const inTurn = async <T>(live: Live, path: string, work: () => Promise<T>): Promise<T> => {
    const key = `${live.owned.executionId}:${path}`
    const mine = (turns.get(key) ?? Promise.resolve()).then(work)
    const over = mine.catch(() => {})
    turns.set(key, over)
    try {
      return await mine
    } finally {
      if (turns.get(key) === over) turns.delete(key)
    }
  }

  return (live: Live, frame: Frame, command: Command) => {
    switch (command.do) {
      case 'run':
        return during(deps, live, () => runNode(deps, live, frame, command))
      case 'open':
        return during(deps, live, () =>
          inTurn(live, frame.prefix + command.node, () => openRequest(deps, live, frame, command)),
        )
      case 'close': {
        const path = frame.prefix + command.node
        // A path that ends like this is a prefix: of everything in a body, or in one of its items.
        if (/[[.]$/.test(path) && mayStartInBodies(live.top.context.graph))
          during(deps, live, () => abandonChildrenUnder(deps, live, path))
        if (!live.owned.mayHaveOpenedRequests) return undefined
        return during(deps, live, () => inTurn(live, path, () => closeRequest(deps, live, frame, command.node)))
      }
      case 'due':
        return during(deps, live, () => settleDue(deps, live, frame, command))
      case 'child':
        return during(deps, live, () => startChild(deps, live, frame, command))
      case 'abandon':
        return during(deps, live, () => abandonChild(deps, live, frame, command))
      case 'map':
        return during(deps, live, () => runMap(deps, live, frame, command))
      case 'grace':
        return during(deps, live, () => grace(deps, live, frame))
      case 'loop':
        return during(deps, live, () => runLoop(deps, live, frame, command))
    }
  }
}
