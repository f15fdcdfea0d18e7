import type { Definition, Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Effect } from '#model/node'
import { jsonSize } from '#model/size'
import type { Blobs } from '#providers/blobs/index'
import type { LoadDefinition } from '../definitions.ts'
import { contextOf } from '../worker/owned.ts'
import { type ReplayRunDeps, Unreplayable } from './answers.ts'
import { compareTraces, type Difference } from './compare.ts'
import { type Past, withBlobs } from './read.ts'
import { readPastRun } from './record.ts'
import { runReplay } from './run-replay.ts'
import { type Mocked, traceOfPast } from './trace.ts'

/** The result of comparing a candidate with one past execution. */
export type Replayed = {
  outcome: 'same' | 'different' | 'unreplayable'
  reason: { code: string; message: string } | null
  difference: Difference | null
  mocked: Mocked[]
  usage: JsonObject
  candidateUsage: JsonObject
  durationMs: number
  candidateDurationMs: number
}

export type ReplayDeps = ReplayRunDeps & {
  loadDefinition: LoadDefinition
  blobs: Blobs
  effectOf(type: string): Effect
}

const NOTHING = { difference: null, mocked: [], usage: {}, candidateUsage: {}, durationMs: 0, candidateDurationMs: 0 }
const MAX_REPORT = 64 * 1024

const unreplayable = (code: string, message: string): Replayed => ({
  ...NOTHING,
  outcome: 'unreplayable',
  reason: { code, message },
})

/**
 * Returns the reason why an execution cannot be compared. Only the definition, its input and the recorded answers may
 * determine its course.
 */
const reasonAgainst = (past: Past | undefined): Replayed | undefined => {
  if (!past) return unreplayable('gone', 'the run is no longer stored')
  const { row, events } = past
  if (row.too_large) return unreplayable('too_large', 'its input or journal is too large to be replayed')
  if (row.status === 'cancelled') return unreplayable('cancelled', 'it was cancelled')
  if (row.status === 'timed_out') return unreplayable('timed_out', 'it took longer than its settings allow')
  if (row.retry_of !== null) return unreplayable('is_retry', 'it was a retry that used results of another run')
  if (events[0]?.type !== 'execution.started') return unreplayable('gone', 'its journal is no longer stored')
  return undefined
}

/** Removes the values from a report that is too large, and keeps the names of what differs. */
const bounded = (difference: Difference | null): Difference | null => {
  if (difference === null || jsonSize(difference as unknown as Json, MAX_REPORT) <= MAX_REPORT) return difference
  const bare = <T extends { before: JsonObject | null; after: JsonObject | null }>(list: T[]): T[] =>
    list.map((one) => ({ ...one, before: one.before && {}, after: one.after && {} }))
  return {
    ...difference,
    results: difference.results.map(({ path }) => ({ path })),
    sent: bare(difference.sent),
    asked: bare(difference.asked),
  }
}

export const replayOne = async (
  deps: ReplayDeps,
  executionId: string,
  past: Past | undefined,
  candidate: Definition,
): Promise<Replayed> => {
  const against = reasonAgainst(past)
  if (against || !past) return against ?? unreplayable('gone', 'the run is no longer stored')
  const { row } = past
  try {
    const original = await deps.loadDefinition(deps.workspaceId, row.definition_ref).catch(() => {
      throw new Unreplayable('no_definition', 'the definition that it ran is no longer stored')
    })
    const events = await withBlobs(deps.blobs, past.events)
    const vars = events[0]?.data.vars as JsonObject | undefined
    const { workspaceId } = deps
    const about = {
      workspaceId,
      executionId,
      workflowId: row.workflow_id,
      startedBy: row.started_by,
      input: row.input,
      scheduledAt: row.scheduled_at,
      vars,
    }
    const trigger = { kind: row.trigger_kind, id: row.trigger_id }
    const contextFor = (definition: Definition) =>
      contextOf(about, trigger, definition, deps.effectOf, ({ nodePath }) => `https://callback.invalid/${nodePath}`)
    const then = readPastRun(contextFor(original), events)
    const before = traceOfPast(then)
    const [issue] = validateJson(candidate.inputs ?? true, row.input)
    if (issue) {
      const message = `the candidate does not accept the input: input${issue.path} ${issue.message}`
      return { ...refused(before.status, message), usage: before.usage, durationMs: before.durationMs }
    }
    const after = await runReplay(deps, contextFor(candidate), then)
    const { outcome, difference, mocked } = compareTraces(before, after)
    return {
      outcome,
      reason: null,
      difference: bounded(difference),
      mocked,
      usage: before.usage,
      candidateUsage: after.usage,
      durationMs: before.durationMs,
      candidateDurationMs: after.durationMs,
    }
  } catch (error) {
    if (error instanceof Unreplayable) return unreplayable(error.code, error.message)
    throw error
  }
}

const refused = (status: string, message: string): Replayed => ({
  ...NOTHING,
  outcome: 'different',
  reason: null,
  difference: {
    status: { before: status, after: 'refused' },
    error: { before: null, after: { code: 'invalid_input', message } },
    results: [],
    path: [],
    sent: [],
    asked: [],
    unanswered: [],
  },
})
