import { flowOf } from '#engine/flow/rules'
import type { Json, JsonObject } from '#model/definition'
import { validateJson } from '#model/json-schema'
import type { Tx } from '#platform/db/pool'
import { toWire } from '#platform/ids'
import type { Claimed } from './store.ts'

// What a trigger starts: one execution for each item.

export type Due = { workspace_id: string; trigger_id: string }
export type Claim = { due: Due; row: Claimed }
export type Within = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
export type Item = { item: Json; event?: string | null | undefined }

/** Another process has taken over, or the trigger was deleted, so the starts are rolled back. */
export class Overtaken extends Error {}
export class QueueFull extends Error {}

export const inputOf = ({ due, row }: Claim, { item, event }: Item): JsonObject => ({
  trigger: {
    trigger_id: toWire('trg', due.trigger_id),
    service: row.service,
    trigger: row.trigger,
    ...(typeof event === 'string' && { event }),
  },
  item,
})

const misfitOf = (claim: Claim, item: Item): string | null => {
  const [issue] = validateJson(claim.row.inputs ?? true, inputOf(claim, item))
  return issue ? `${issue.path} ${issue.message}` : null
}

export function inputError(claim: Claim, item: Item): string | null {
  const misfit = misfitOf(claim, item)
  return misfit === null ? null : `The input does not fit the workflow: ${misfit}`
}

/** An item that does not fit the workflow starts nothing. It is reported, and does not stop the others. */
export function sortOut(claim: Claim, items: readonly Item[]): { fitting: Item[]; skipped: string | null } {
  const misfits = items.map((item) => misfitOf(claim, item))
  const fitting = items.filter((_item, position) => misfits[position] === null)
  const [first] = misfits.filter((misfit) => misfit !== null)
  const count = items.length - fitting.length
  return {
    fitting,
    skipped: first === undefined ? null : `${count} of ${items.length}${SKIPPED}${first}`.slice(0, 1_000),
  }
}

const SKIPPED = ' new items started nothing. The input does not fit the workflow: '

/** Whether this report tells of items that started nothing. A poll without new items does not withdraw it. */
export const tellsOfSkipped = (report: string | null): boolean => report?.includes(SKIPPED) ?? false

const LEFT_OUT = /^The piece returned \d+ items at once\. The last \d+ were left out\./

/** Reports that a piece returned more items than one poll accepts. The piece does not return the others again. */
export const leftOutReport = (returned: number, leftOut: number): string =>
  `The piece returned ${returned} items at once. The last ${leftOut} were left out.`

/** Separates the report of items that were left out from the rest of `last_error`. */
export function splitLeftOut(error: string | null): { leftOut: string | null; rest: string | null } {
  const leftOut = error?.match(LEFT_OUT)?.[0] ?? null
  return { leftOut, rest: error?.slice(leftOut?.length ?? 0).trim() || null }
}

export const startOf = (claim: Claim, executionId: string, one: Item) => {
  const { due, row } = claim
  const id = toWire('trg', due.trigger_id)
  return {
    workspaceId: due.workspace_id,
    executionId,
    input: inputOf(claim, one),
    definitionRef: `version:${row.version_id}`,
    workflowId: row.workflow_id,
    versionId: row.version_id,
    timeoutS: row.settings.timeout_s ?? null,
    flow: flowOf(row.settings),
    trigger: { kind: 'event' as const, id },
    startedBy: null,
    principalId: row.principal_id,
    initiatedBy: [{ kind: 'event' as const, id, user_id: row.created_by }],
  }
}
