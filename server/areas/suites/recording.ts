import type { LoadDefinition } from '#engine/definitions'
import { type NodeCall, NodeFailure, type NodeKind, type NodeResult } from '#engine/node'
import { type AnyKind, isControl } from '#engine/nodes/kind'
import type { NodeTable } from '#engine/nodes/table'
import type { FindRecorded } from '#engine/nodes/trial-answer'
import { Unreplayable } from '#engine/replaying/answers'
import { readPast, withBlobs } from '#engine/replaying/read'
import { type Call, keyOf, readPastRun } from '#engine/replaying/record'
import { contextOf } from '#engine/worker/owned'
import type { JsonObject } from '#model/definition'
import { withoutDeferred } from '#model/expressions'
import { isActing } from '#model/node-access'
import { jsonSize } from '#model/size'
import { toStorableText } from '#model/storable'
import type { Database } from '#platform/db/pool'
import { isProblem } from '#platform/errors'
import { fromWire } from '#platform/ids'
import type { Blobs } from '#providers/blobs/index'
import * as store from './recording-store.ts'

// Recordings of the arguments and answers in a live run of a suite, by node and resolved arguments. Later runs are
// answered from them.

const MAX_OUTPUT_BYTES = 256 * 1024
const AT_ONCE = 25

/** Turns `each#2[3].line` into `each[].line`, so that items and attempts share their recordings. */
export const stablePath = (path: string): string => path.replaceAll(/(?:#\d+)?\[\d+\]/g, '[]')

const keyFor = (type: string, nodePath: string, args: JsonObject): Buffer =>
  Buffer.from(keyOf({ id: nodePath, type }, withoutDeferred({ type, args }), {}), 'base64')

const suiteOf = (triggerId: string | null | undefined): string | undefined =>
  triggerId?.startsWith('suite_') ? fromWire('suite', triggerId) : undefined

const isSmall = (output: NodeResult['output']): boolean => jsonSize(output, MAX_OUTPUT_BYTES) <= MAX_OUTPUT_BYTES

function recordKind(kind: NodeKind, db: Database): NodeKind {
  const { type } = kind.descriptor
  const put = (call: NodeCall, suiteId: string, one: Pick<store.Recording, 'output' | 'error'> & NodeResultParts) => {
    const nodePath = stablePath(call.nodePath)
    const recording = { ...one, nodePath, key: keyFor(type, nodePath, call.args) }
    // The node has acted: failing to store its answer must not make it act again.
    return db
      .tenant({ workspaceId: call.workspaceId, userId: null }, (tx) =>
        store.putRecording(tx, call.workspaceId, suiteId, recording),
      )
      .catch((error: unknown) => call.log.warn({ err: error }, 'an answer could not be recorded for its suite'))
  }
  return {
    ...kind,
    async run(call) {
      const suiteId = suiteOf(call.triggerId)
      if (suiteId === undefined) return kind.run(call)
      const began = performance.now()
      try {
        const result = await kind.run(call)
        const { output, port = null, usage = null } = result
        if (isSmall(output)) await put(call, suiteId, { output, port, usage, durationMs: performance.now() - began })
        return result
      } catch (error) {
        if (error instanceof NodeFailure && error.code !== 'aborted') {
          const { code, message } = error
          const parts = { port: null, usage: null, durationMs: performance.now() - began }
          await put(call, suiteId, { error: { code, message: toStorableText(message, 2_000) }, ...parts })
        }
        throw error
      }
    },
  }
}
type NodeResultParts = Pick<store.Recording, 'port' | 'usage' | 'durationMs'>

/** Wraps node types that act, so that their results are recorded in runs of a suite. */
export const recordNodes = (nodes: NodeTable, db: Database): NodeTable =>
  new Map(
    [...nodes].map(([type, kind]): [string, AnyKind] => [
      type,
      isControl(kind) || !isActing(type) ? kind : recordKind(kind, db),
    ]),
  )

/**
 * Finds the recording for the node that replaces others in a run of a suite. Missing recordings are noted for the
 * report.
 */
export const makeFindRecorded =
  (db: Database): FindRecorded =>
  (call, { type, args, exactly }) => {
    const suiteId = suiteOf(call.triggerId)
    if (suiteId === undefined) return Promise.resolve(undefined)
    const { workspaceId, executionId } = call
    const nodePath = stablePath(call.nodePath)
    return db.tenant({ workspaceId, userId: null }, async (tx) => {
      const key = keyFor(type, nodePath, args)
      const found = await store.findRecording(tx, workspaceId, { suiteId, nodePath, key, exactly })
      const reason = !found ? 'not_recorded' : found.same ? null : 'arguments_differ'
      const { usage = null, duration_ms: durationMs = 0 } = found ?? {}
      await store.noteAnswer(tx, workspaceId, { suiteId, executionId, nodePath, type, reason, usage, durationMs })
      if (!found) return undefined
      return found.error ? { error: found.error } : { output: found.output, port: found.port }
    })
  }

export type RecordPeople = (workspaceId: string, suiteId: string, executionIds: string[]) => Promise<void>

/** Checks whether the worker itself runs this node type. Its results are then in the journal. */
const isJournalled = (nodes: NodeTable, type: string): boolean => {
  const kind = nodes.get(type)
  return kind !== undefined && isControl(kind) && isActing(type)
}

/** Records the answers of people, events and sub-workflows in the cases of a live run. */
export const makeRecordPeople =
  (deps: { db: Database; blobs: Blobs; loadDefinition: LoadDefinition; nodes: NodeTable }): RecordPeople =>
  async (workspaceId, suiteId, executionIds) => {
    const scope = { workspaceId, userId: null }
    for (let at = 0; at < executionIds.length; at += AT_ONCE) {
      const ids = executionIds.slice(at, at + AT_ONCE)
      const past = await deps.db.tenant(scope, (tx) => readPast(tx, workspaceId, ids))
      for (const [executionId, { row, events }] of past) {
        if (row.too_large || events[0]?.type !== 'execution.started') continue
        const definition = await deps.loadDefinition(workspaceId, row.definition_ref).catch(() => undefined)
        if (!definition?.nodes.some(({ type }) => isJournalled(deps.nodes, type))) continue
        const whole = await withBlobs(deps.blobs, events).catch((error: unknown) => {
          if (error instanceof Unreplayable) return undefined
          throw error
        })
        if (!whole) continue
        const about = {
          workspaceId,
          executionId,
          workflowId: row.workflow_id,
          startedBy: row.started_by,
          input: row.input,
          scheduledAt: row.scheduled_at,
          vars: whole[0]?.data.vars as JsonObject | undefined,
        }
        const trigger = { kind: row.trigger_kind, id: row.trigger_id }
        const { calls } = readPastRun(
          contextOf(about, trigger, definition, () => 'pure'),
          whole,
        )
        const kept = calls.flatMap((call) => (isJournalled(deps.nodes, call.type) ? recordingOf(call) : []))
        try {
          await deps.db.tenant(scope, async (tx) => {
            for (const one of kept) await store.putRecording(tx, workspaceId, suiteId, one)
          })
        } catch (error) {
          // Without free storage the report is still written, and later runs find fewer recordings.
          if (!isProblem(error, 'quota_exceeded')) throw error
          return
        }
      }
    }
  }

/** The time that people take says nothing about a version, so the duration is 0. */
function recordingOf({ node, type, args, end }: Call): store.Recording[] {
  if (!end || end.kind === 'retrying') return []
  const about = { nodePath: node, key: keyFor(type, node, args), usage: end.usage ?? null, durationMs: 0 }
  if (end.kind === 'succeeded')
    return isSmall(end.output) ? [{ ...about, port: end.port ?? null, output: end.output }] : []
  return [{ ...about, port: null, error: { code: end.error.code, message: end.error.message } }]
}
