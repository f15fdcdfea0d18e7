import { toolNameOf } from '#areas/mcp/tools'
import { requirementsOf } from '#areas/requirements/extract'
import { type AgentTool, offeredSchema, problemsOf } from '#engine/agents/tools'
import { NodeFailure } from '#engine/node'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { SECOND } from '#platform/clock'
import type { Database } from '#platform/db/pool'
import type { ConversationActions } from '../conversation-actions.ts'
import { readExecutionStates } from '../execution-store.ts'
import { filesWanted, withFiles, withoutUsed } from '../files.ts'
import { saveTurn } from '../message-store.ts'
import type { Offer } from '../offer-store.ts'
import { pendingChangesOf } from '../pending-turn.ts'
import { type LockedThread, lockThread } from '../thread-store.ts'
import type { ShownResults } from '../updates.ts'
import { allowedOf, fixedOf, type TurnContext } from './turn-context.ts'
import type { AgentPorts, TemplateTool } from './types.ts'

// A workflow as a tool. Its start commits together with the step that records it, so it is started once. While the
// assistant waits for the execution, the conversation does not post its end, because the assistant reports the result
// in its own words.

const POLL_EVERY = SECOND / 2

const ENDED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'timed_out'])

/** The result of a call. If `told` is false, the conversation posts the end itself. */
export type ToolEnd = { execution_id: string; title: string; status: string; results: Json; error: Json; told: boolean }

export type WorkflowToolParts = {
  db: Database
  ports: Pick<AgentPorts, 'waitFor'>
  actions: Pick<ConversationActions, 'start'>
  shownResults: ShownResults
  /** The maximum time that the assistant waits for the execution. A later result is posted in the conversation. */
  toolWaitMs: number
  countStarted(workspaceId: string, count: number): void
}

export function workflowTool(
  parts: WorkflowToolParts,
  context: TurnContext,
  offer: Offer,
  grant: TemplateTool | undefined,
): AgentTool {
  const fixed = fixedOf(grant)
  const inputs: JsonObject = isObject(offer.inputs) ? { ...offer.inputs, type: 'object' } : { type: 'object' }
  const schema = offeredSchema(withoutFiles(inputs), fixed, allowedOf(grant))
  return {
    name: toolNameOf(offer),
    title: offer.name,
    description: grant?.description ?? offer.description ?? `Starts "${offer.name}" and gives its results.`,
    schema,
    effect: 'idempotent',
    check: (args) => problemsOf(schema, args),
    async run({ args, effectKey, signal }) {
      const { journal, turn } = context
      const { workspace_id: workspaceId } = turn
      const began = !journal.has(`start:${effectKey}`)
      const started = await journal.stepInTransaction(`start:${effectKey}`, (tx) =>
        startQuietly(parts, tx, context, offer, { ...args, ...fixed }),
      )
      if (started.execution_id === null)
        throw new NodeFailure('not_started', 'it cannot be started at the moment; nothing was done')
      if (began) parts.countStarted(workspaceId, 1)
      await waitForEnd(parts, workspaceId, started.execution_id, signal)
      const end = await journal.stepInTransaction(`end:${effectKey}`, (tx) =>
        takeEnd(parts, tx, context, started.execution_id!, offer.name),
      )
      return describe(end as unknown as ToolEnd)
    },
  }
}

/** Removes the inputs for files. The person sends files; the model neither sees nor chooses them. */
function withoutFiles(inputs: JsonObject): JsonObject {
  const properties = isObject(inputs.properties) ? inputs.properties : {}
  const files = Object.keys(properties).filter((name) => filesWanted(properties[name]) !== null)
  if (files.length === 0) return inputs
  const required = Array.isArray(inputs.required) ? inputs.required : []
  return {
    ...inputs,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !files.includes(name))),
    required: required.filter((name) => !files.includes(String(name))),
  }
}

async function startQuietly(
  { actions }: WorkflowToolParts,
  tx: Parameters<typeof lockThread>[0],
  { turn, by }: TurnContext,
  offer: Offer,
  given: JsonObject,
): Promise<{ execution_id: string | null }> {
  const thread = await lockThread(tx, turn.workspace_id, turn.thread_id)
  if (!thread) return { execution_id: null }
  const input = withFiles(requirementsOf(offer.inputs ?? true), given, thread.state.files)
  const wrong = problemsOf(isObject(offer.inputs) ? offer.inputs : {}, input)
  if (wrong.length > 0) throw new NodeFailure('args_invalid', `nothing was started: ${wrong.join('; ')}`)
  thread.state = { ...thread.state, files: withoutUsed(thread.state.files, input) }
  const pending = pendingChangesOf(thread, null)
  if (!(await actions.start(tx, pending, offer, input, by, turn.turn_id))) return { execution_id: null }
  await saveTurn(tx, thread, [])
  for (const write of pending.writes) await write(tx)
  return { execution_id: pending.executionId }
}

async function waitForEnd(
  { ports, toolWaitMs }: WorkflowToolParts,
  workspaceId: string,
  executionId: string,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + toolWaitMs
  while (performance.now() < until) {
    signal.throwIfAborted()
    const view = await ports.waitFor(workspaceId, executionId, POLL_EVERY, signal)
    if (!view || ENDED.has(view.status)) return
    if (view.waiting_for.some(({ kind }) => kind === 'clarification' || kind === 'approval')) return
  }
}

/** Runs with the thread locked, so that either the assistant or the conversation reports the end, but never both. */
async function takeEnd(
  { shownResults }: WorkflowToolParts,
  tx: Parameters<typeof lockThread>[0],
  { turn }: TurnContext,
  executionId: string,
  title: string,
): Promise<JsonObject> {
  const { workspace_id: workspaceId, thread_id, turn_id } = turn
  const thread = await lockThread(tx, workspaceId, thread_id)
  const [standing] = await readExecutionStates(tx, workspaceId, [executionId])
  const ended = standing !== undefined && ENDED.has(standing.status)
  if (thread) {
    thread.state = { ...thread.state, running: released(thread, turn_id, executionId, ended) }
    await saveTurn(tx, thread, [])
  }
  const waiting = standing?.waiting_for.map(({ kind }) => kind) ?? []
  const results = !ended ? null : await shownResults(tx, { workspaceId, executionId }, standing.results)
  return {
    execution_id: executionId,
    title,
    status: waiting.includes('clarification')
      ? 'waiting_for_answer'
      : waiting.includes('approval')
        ? 'waiting_for_approval'
        : (standing?.status ?? 'gone'),
    results: standing?.large ? 'The result is too large to show here.' : results,
    error: standing?.error ? { code: standing.error.code, message: standing.error.message } : null,
    told: ended,
  }
}

const released = ({ state }: LockedThread, turnId: string, executionId: string, ended: boolean) =>
  state.running.flatMap((entry) => {
    if (entry.execution_id !== executionId || entry.answering !== turnId) return [entry]
    return ended ? [] : [{ execution_id: entry.execution_id, title: entry.title }]
  })

const NOTES: Record<string, string> = {
  waiting_for_answer:
    'It asks the person a question, which they have been shown already. Do not repeat it; wait for their answer.',
  waiting_for_approval: 'It waits for the approval of a colleague. The person will be told here when it is done.',
  running: 'It is still running. The person will be told here when it is done.',
  queued: 'It has not begun yet. The person will be told here when it is done.',
}

const describe = ({ status, results, error }: ToolEnd): Json => {
  if (status === 'succeeded') return { status, results }
  if (!ENDED.has(status)) return { status, note: NOTES[status] ?? NOTES.running! }
  return { status, error }
}
