import { credentialIdsIn } from '#model/credential-ids'
import type { Graph, Json, JsonObject } from '#model/definition'
import { keptVariables } from '#model/variables'
import { SECOND } from '#platform/clock'
import { toWire } from '#platform/ids'
import { initiatorsOfFollower } from '../initiators.ts'
import type { Happening } from '../interpreter/advance.ts'
import type { Command } from '../interpreter/commands.ts'
import { errorOf } from '../interpreter/errors.ts'
import { compile } from '../interpreter/graph.ts'
import { type NodeCall, NodeFailure, type NodeResult, NotBegun } from '../node.ts'
import { workflowNamed } from '../nodes/subworkflow.ts'
import { checkedText, isLarge, offload } from '../outputs.ts'
import { platformFault } from '../platform-fault.ts'
import type { BlobRef, ChildEnd, PeopleWait, Settled } from '../ports.ts'
import { type Abortable, lazyAbort } from './abort.ts'
import { childId } from './child-id.ts'
import type { EffectDeps } from './effect-deps.ts'
import { type Frame, splitPath } from './frame.ts'
import type { Live } from './live-types.ts'
import { runLoop } from './loops.ts'
import { runMap } from './maps.ts'
import { GivenUp } from './patience.ts'
import { takeShown } from './shown.ts'
import { happeningOf } from './signals.ts'

// Carries out what the interpreter commanded, once that is durable. What comes of it goes back as a happening.

const MAX_DEPTH = 16
const PROGRESS_EVERY = 250
const DUE_LATER = 60 * SECOND
const TROUBLE_MEANWHILE =
  'the service was in trouble while this node ran; whether it took effect is not known, so it was not done again'

const namedCredentials = (graph: Graph, node: string): ReadonlySet<string> =>
  new Set([...credentialIdsIn(compile(graph).nodes.get(node)?.args)].map(({ id }) => id))

const failure = (command: Command & { attempt: number }, error: unknown): Happening => ({
  kind: 'error',
  node: command.node,
  attempt: command.attempt,
  error: errorOf(error),
  retryable: !(error instanceof NodeFailure) || error.retryable,
  ...(error instanceof NodeFailure && error.nothingDone && { nothingDone: true }),
  ...(error instanceof NodeFailure && error.retryAfterS !== undefined && { retryAfterS: error.retryAfterS }),
})

const writtenArgs = (frame: Frame, node: string): JsonObject =>
  frame.context.graph.nodes.find(({ id }) => id === node)?.args ?? {}

export const makeEffects = (deps: EffectDeps) => {
  const { ports, log, patience } = deps

  /** In its turn, and not at all once the execution has left this worker. */
  const inArea = <T>(live: Live, work: () => Promise<T>): Promise<T> =>
    deps.areaCalls(live.owned.workspaceId, () => {
      if (live.isGone()) throw new GivenUp('the execution has left this worker')
      return work()
    })

  /** Keeps the execution from parking while something of ours is under way. */
  const during = (live: Live, work: () => Promise<(() => void) | undefined>): void => {
    live.busy(1)
    work().then(
      // No longer busy when what came of it is told: an execution that then only waits parks in the same append.
      (tell) => live.busy(-1, tell),
      (error: Error) => {
        if (!(error instanceof GivenUp))
          log.error({ err: error, execution_id: live.owned.executionId }, 'an effect went wrong')
        live.busy(-1)
      },
    )
  }

  const callOf = (
    live: Live,
    frame: Frame,
    command: Command & { do: 'run' },
    path: string,
    controller: Abortable,
  ): NodeCall => {
    const { owned } = live
    let shown = 0
    return {
      workspaceId: owned.workspaceId,
      workflowId: owned.workflowId,
      executionId: owned.executionId,
      nodePath: path,
      attempt: command.attempt,
      args: command.args,
      get effectKey() {
        // A map that is tried again gives its items the paths of that attempt; what they do outside is the same as before.
        return `${toWire('exe', owned.executionId)}:${path.replaceAll(/#\d+(?=\[)/g, '')}`
      },
      principalId: owned.principalId,
      get credentialIds() {
        return namedCredentials(frame.context.graph, command.node)
      },
      startedBy: owned.startedBy,
      timeoutS: command.timeoutS,
      get signal() {
        return controller.signal
      },
      log,
      progress: (data) => {
        const now = performance.now()
        if (now - shown < PROGRESS_EVERY || frame.item) return
        shown = now
        try {
          const { value } = checkedText({ data })
          void live.tell(frame, { kind: 'progress', node: command.node, data: value as JsonObject })
        } catch {
          // Lossy by nature: what cannot be stored is not shown.
        }
      },
      step: async <T extends Json>(name: string, work: () => Promise<T>): Promise<T> => {
        const steps = frame.state.nodes[command.node]?.steps ?? {}
        if (Object.hasOwn(steps, name)) return steps[name] as T
        const result = await work()
        const { value } = checkedText(result)
        const durable = await live.tell(frame, { kind: 'step', node: command.node, name, result: value })
        if (!durable || controller.aborted) throw new NodeFailure('aborted', 'this attempt is over')
        return result
      },
    }
  }

  const runOnce = async (live: Live, frame: Frame, command: Command & { do: 'run' }): Promise<NodeResult> => {
    const path = frame.prefix + command.node
    const kind = Object.hasOwn(ports.nodes, command.type) ? ports.nodes[command.type] : undefined
    const controller = lazyAbort()
    live.effects.set(path, controller)
    let timer: NodeJS.Timeout | undefined
    try {
      if (!kind)
        throw new NodeFailure('unknown_node_type', `there is no node type "${command.type}"`, { retryable: false })
      const missing = kind.unavailable?.()
      if (missing) throw new NodeFailure('provider_not_configured', missing, { retryable: false })
      const running = kind.run(callOf(live, frame, command, path, controller))
      const { timeoutS } = command
      if (timeoutS === undefined) return await running
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new NodeFailure('timeout', `the node took longer than its ${timeoutS} s`))
          controller.abort()
        }, timeoutS * SECOND)
      })
      return await Promise.race([running, late])
    } catch (error) {
      if (error instanceof NotBegun) throw error.cause
      // What may happen at most once is not tried again, no matter who is to blame.
      if (frame.context.effectOf(command.type, command.args) !== 'at_most_once' || !platformFault(error, 'node'))
        throw error
      throw new NodeFailure('outcome_unknown', TROUBLE_MEANWHILE, { retryable: false })
    } finally {
      clearTimeout(timer)
      if (live.effects.get(path) === controller) live.effects.delete(path)
    }
  }

  /**
   * The call has succeeded and is not repeated: its output is kept until it is stored. One that is given back before that
   * takes it along in its journal.
   */
  const store = async (live: Live, frame: Frame, node: string, text: string): Promise<BlobRef | undefined> => {
    if (!isLarge(text)) return undefined
    try {
      return await patience(live, { frame, node }, () => offload(ports.blobs, live.owned, text))
    } catch (error) {
      if (error instanceof GivenUp && live.isReleasing()) return undefined
      throw error
    }
  }

  const run = async (live: Live, frame: Frame, command: Command & { do: 'run' }): Promise<() => void> => {
    const { node, attempt } = command
    try {
      const result = await patience(live, { frame, node, origin: 'node' }, () => runOnce(live, frame, command))
      const { value, text } = checkedText(result.output)
      const blob = await store(live, frame, node, text)
      const happening: Happening = { kind: 'done', node, attempt, output: value }
      if (blob) happening.blob = blob
      if (result.port !== undefined) happening.port = result.port
      if (result.usage) happening.usage = result.usage
      return () => live.inform(frame, happening)
    } catch (error) {
      if (error instanceof GivenUp) throw error
      if (!(error instanceof NodeFailure))
        log.warn({ err: error, execution_id: live.owned.executionId, node: frame.prefix + node }, 'a node threw')
      return () => live.inform(frame, failure(command, error))
    }
  }

  const waitOf = (live: Live, frame: Frame, node: string, args: JsonObject): PeopleWait => {
    const { workspaceId, executionId, workflowId, versionId, startedBy, initiatedBy, input } = live.owned
    const about = { workspaceId, executionId, workflowId, versionId, startedBy, initiatedBy, input }
    return { ...about, nodePath: frame.prefix + node, nodeId: node, args }
  }

  /** What opens and what closes one gate or question is done in the order in which it was commanded. */
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

  const close = async (live: Live, frame: Frame, node: string): Promise<undefined> => {
    const { workspaceId, executionId } = live.owned
    const path = frame.prefix + node
    try {
      // Of a frame that is over as well: that is why it is closed.
      await patience(live, { frame: live.top, node: path }, () =>
        deps.areaCalls(workspaceId, () => ports.overtaken({ workspaceId, executionId, path })),
      )
    } catch (error) {
      if (error instanceof GivenUp) throw error
      log.warn({ err: error, execution_id: executionId }, 'a gate or question is closed only when its execution ends')
    }
  }

  const refuse = (live: Live, frame: Frame, node: string, error: unknown): void => {
    const { status, attempt = 1 } = frame.state.nodes[node] ?? {}
    // One that waits already was only looked at again.
    if (status === 'waiting') live.inform(frame, { kind: 'refused', node, error: errorOf(error) })
    else live.inform(frame, { kind: 'error', node, attempt, error: errorOf(error), retryable: false })
  }

  /**
   * What was opened is over already. The messages that say so come first, since they also say who voted; its outcome is for
   * the case that they were read before the node waited for them.
   */
  const goOnWith = async (live: Live, frame: Frame, opened: Happening, settled: Settled): Promise<() => void> => {
    const { node } = splitPath(settled.nodePath)
    await live.tell(frame, opened)
    await patience(live, { frame, node }, () => live.readInbox())
    const outcome = happeningOf(settled, node, frame.state.nodes[node]?.attempt ?? 1)
    return () => outcome && live.inform(frame, outcome)
  }

  const opener = { approval: ports.openGate, clarification: ports.askQuestion, event: ports.awaitEvent } as const

  const openForPeople = async (
    live: Live,
    frame: Frame,
    command: Command & { do: 'open' },
  ): Promise<(() => void) | undefined> => {
    const { node, people } = command
    const wait = waitOf(live, frame, node, command.args)
    try {
      takeShown(live, frame, command)
      const opened = await patience(live, { frame, node }, () => inArea(live, () => opener[people](wait)))
      // Its item or its map ended meanwhile.
      if (live.frames.get(frame.prefix) !== frame) return await close(live, frame, node)
      const dueAt = opened.dueAt?.getTime() ?? null
      const happening: Happening = { kind: 'opened', node, people, data: opened.data, dueAt }
      const { settled } = opened
      return settled ? await goOnWith(live, frame, happening, settled) : () => live.inform(frame, happening)
    } catch (error) {
      if (error instanceof GivenUp) throw error
      if (!(error instanceof NodeFailure))
        log.error({ err: error, execution_id: live.owned.executionId }, 'a gate or question could not be opened')
      return () => refuse(live, frame, node, error)
    }
  }

  const due = async (live: Live, frame: Frame, command: Command & { do: 'due' }): Promise<(() => void) | undefined> => {
    const { node, people } = command
    const path = frame.prefix + node
    if (live.effects.has(`due:${path}`)) return undefined
    live.effects.set(`due:${path}`, lazyAbort())
    const { workspaceId, executionId } = live.owned
    let dueAt: number | null
    try {
      const ask = () => inArea(live, () => ports.due({ workspaceId, executionId, nodePath: path, kind: people }))
      dueAt = (await patience(live, { frame, node }, ask)).dueAt?.getTime() ?? null
    } catch (error) {
      if (error instanceof GivenUp) throw error
      log.error({ err: error, execution_id: executionId }, 'a due gate or question could not be settled yet')
      dueAt = deps.clock() + DUE_LATER
    } finally {
      live.effects.delete(`due:${path}`)
    }
    // What the area decided has come as a message to this execution.
    live.lookAtInbox()
    return () => live.inform(frame, { kind: 'postponed', node, people, dueAt })
  }

  const startOnce = async (
    live: Live,
    frame: Frame,
    command: Command & { do: 'child' },
  ): Promise<(() => void) | undefined> => {
    const { owned } = live
    const { node, attempt, args } = command
    const path = frame.prefix + node
    const executionId = childId(owned.executionId, frame, node, attempt)
    const tell = (end: ChildEnd) => () => live.inform(frame, { kind: 'child', node, attempt, ...end })
    // Its end may have come as a message in the same moment.
    const self = frame.state.nodes[node]
    if (self?.wait?.kind !== 'execution' || self.attempt !== attempt) return undefined
    // What was started is not resolved again: its workflow may be gone by now, and the child is not.
    const before = command.again && (await deps.findChild(owned.workspaceId, executionId))
    const goesItsWay = args.wait === false
    const begun = tell({ results: { execution_id: toWire('exe', executionId) }, error: null })
    if (before && goesItsWay) return begun
    if (before) return before.ended ? tell(before.ended) : undefined
    if (owned.depth >= MAX_DEPTH) {
      throw new NodeFailure('too_deep', `workflows may start each other ${MAX_DEPTH} deep`, { retryable: false })
    }
    const wanted = {
      workflow_id: workflowNamed(writtenArgs(frame, node), args),
      input: args.input ?? {},
      executionId: owned.executionId,
      ...(typeof args.version_id === 'string' && { version_id: args.version_id }),
    }
    const target = await inArea(live, () => ports.resolveWorkflow(owned.workspaceId, wanted))
    // What is part of the program acts for the person who calls it.
    const principalId = target.principalId ?? owned.principalId
    const { vars } = owned.context
    const started = await deps.startChild({
      ...target,
      executionId,
      workspaceId: owned.workspaceId,
      input: wanted.input,
      trigger: { kind: owned.trigger.kind === 'trial' ? 'trial' : 'workflow', id: toWire('exe', owned.executionId) },
      startedBy: owned.startedBy,
      principalId,
      initiatedBy: initiatorsOfFollower(
        {
          kind: 'execution',
          executionId: owned.executionId,
          principalId: owned.principalId,
          chain: owned.initiatedBy,
        },
        principalId,
      ),
      ...(!goesItsWay && { tellEnd: true, parent: { executionId: owned.executionId, node: path } }),
      depth: owned.depth + 1,
      vars: vars && (keptVariables(await ports.loadDefinition(owned.workspaceId, target.definitionRef), vars) ?? {}),
    })
    if (goesItsWay) return begun
    // Started before, by a try whose fate was unknown, and perhaps over since.
    const found = started.replayed ? await deps.findChild(owned.workspaceId, executionId) : undefined
    return found?.ended ? tell(found.ended) : undefined
  }

  const startChild = async (
    live: Live,
    frame: Frame,
    command: Command & { do: 'child' },
  ): Promise<(() => void) | undefined> => {
    const { node, attempt } = command
    try {
      return await patience(live, { frame, node }, () => startOnce(live, frame, command))
    } catch (error) {
      if (error instanceof GivenUp) throw error
      return () => live.inform(frame, { kind: 'child', node, attempt, results: null, error: errorOf(error) })
    }
  }

  const abandon = async (live: Live, frame: Frame, command: Command & { do: 'abandon' }): Promise<undefined> => {
    const { workspaceId, executionId } = live.owned
    const child = childId(executionId, frame, command.node, command.attempt)
    const node = frame.prefix + command.node
    await patience(live, { frame: live.top, node }, () => deps.cancelChild(workspaceId, child))
  }

  const grace = async (live: Live, frame: Frame): Promise<() => void> => {
    const { workspaceId, workflowId } = live.owned
    const ask = () => inArea(live, () => ports.finallyGrace(workspaceId, workflowId))
    const seconds = await patience(live, { frame, node: '' }, ask)
    return () => live.inform(frame, { kind: 'grace', until: deps.clock() + seconds * SECOND })
  }

  return (live: Live, frame: Frame, command: Command) => {
    switch (command.do) {
      case 'run':
        return during(live, () => run(live, frame, command))
      case 'open':
        return during(live, () => inTurn(live, frame.prefix + command.node, () => openForPeople(live, frame, command)))
      case 'close': {
        const path = frame.prefix + command.node
        if (!live.owned.metPeople) return undefined
        return during(live, () => inTurn(live, path, () => close(live, frame, command.node)))
      }
      case 'due':
        return during(live, () => due(live, frame, command))
      case 'child':
        return during(live, () => startChild(live, frame, command))
      case 'abandon':
        return during(live, () => abandon(live, frame, command))
      case 'map':
        return during(live, () => runMap(deps, live, frame, command))
      case 'grace':
        return during(live, () => grace(live, frame))
      case 'loop':
        return during(live, () => runLoop(deps, live, frame, command))
    }
  }
}
