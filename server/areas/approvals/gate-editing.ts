import { createHash } from 'node:crypto'
import { chosenOf } from '#engine/agents/call-bounds'
import { canonicalText } from '#model/canonical'
import type { Json, JsonObject } from '#model/definition'
import { isObject } from '#model/json'
import { jsonSize } from '#model/size'
import type { Tx } from '#platform/db/pool'
import { invalid, problem } from '#platform/errors'
import { newId, toWire } from '#platform/ids'
import * as edits from './edit-store.ts'
import { withKeyHolders } from './excluded.ts'
import type { GateDependencies } from './gate-dependencies.ts'
import { notifyVoters, settleNotices } from './gate-notices.ts'
import { editInWords } from './outcome-words.ts'
import * as store from './store.ts'
import { gateIsSatisfiable } from './tally.ts'
import { readVotingState } from './voting-state.ts'

// A person who may vote on a tool call may edit its arguments. The edited call is a different payload and gets its own
// gate: votes on the first gate do not count. The edit must stay within the grant of the tool, and its author counts as
// an initiator.

/** Each edit notifies every voter. More edits than this are a dispute, not a review. */
const MAX_EDITS = 20
const MAX_SIZE = 256 * 1024

export const payloadSha256 = (payload: Json): string =>
  createHash('sha256').update(canonicalText(payload)).digest('hex')

export type Edit = { arguments: JsonObject; comment: string | null; editor: { user_id: string; name: string } }

/** Requires that `gate` is locked and open. */
export async function editCall(deps: GateDependencies, tx: Tx, gate: store.Gate, edit: Edit): Promise<store.Gate> {
  const { editor } = edit
  const payload = await editedPayload(tx, gate, edit.arguments)
  const payload_sha256 = payloadSha256(payload)
  if (payload_sha256 === gate.payload_sha256)
    throw invalid([{ path: '/arguments', message: 'are the same as those of the gate' }])
  if (gate.edits >= MAX_EDITS)
    throw problem('conflict', `The arguments were edited ${MAX_EDITS} times. Approve or reject them.`)
  await store.closeGate(tx, gate.workspace_id, gate.request_id, 'cancelled', null)
  const next = await edits.insertSuccessor(tx, gate, {
    request_id: newId(),
    payload,
    payload_sha256,
    // The due time may approve the call that the agent asked for, but never a call that one person wrote.
    policy: { ...gate.policy, on_due: gate.policy.on_due === 'approve' ? 'reject' : gate.policy.on_due },
    initiators: await withEditor(tx, gate, editor.user_id),
    ...edit,
  })
  if (!gateIsSatisfiable(await readVotingState(tx, next)))
    throw problem(
      'conflict',
      gate.policy.allow_self
        ? 'No remaining approver could approve the edited arguments.'
        : 'No other approver could approve the edited arguments: the person who edited them may not, unless the policy has allow_self.',
    )
  const wire = toWire('apr', next.request_id)
  await settleNotices(tx, gate.workspace_id, [gate.request_id], editInWords(editor.name))
  await notifyVoters(tx, next, 'approval.requested', `${editor.name} edited the arguments, vote on them: ${gate.title}`)
  if (await edits.askAgents(tx, next)) tx.after(() => deps.onAgentsAsked())
  deps.engine().send(
    tx,
    {
      workspaceId: gate.workspace_id,
      executionId: gate.execution_id,
      key: `gate:${gate.request_id}:edited`,
    },
    {
      type: 'approval.edited',
      nodePath: gate.node_path,
      data: {
        node_id: gate.node_id,
        request_id: toWire('apr', gate.request_id),
        replaced_by: wire,
        edited_by: { id: toWire('usr', editor.user_id), name: editor.name },
        changed: changedNames(gate.payload, payload),
        payload_sha256: gate.payload_sha256,
        edited_sha256: payload_sha256,
        ...(edit.comment !== null && { comment: edit.comment }),
      },
    },
  )
  return next
}

async function editedPayload(tx: Tx, gate: store.Gate, wanted: JsonObject): Promise<JsonObject> {
  const bounds = await edits.readBounds(tx, gate)
  if (bounds === null || !isObject(gate.payload))
    throw problem(
      'conflict',
      'Only the arguments of a tool call can be edited. Vote on the content of this gate instead.',
    )
  if (jsonSize(wanted, MAX_SIZE) > MAX_SIZE)
    throw invalid([{ path: '/arguments', message: `are larger than ${MAX_SIZE / 1024} KiB` }])
  const { chosen, problems } = chosenOf(bounds, wanted)
  if (problems.length > 0)
    throw invalid(
      problems.map(({ path, message }) => ({ path: `/arguments${path}`, message })),
      'The tool does not accept these arguments, or the workflow does not allow them.',
    )
  return { ...gate.payload, arguments: { ...chosen, ...bounds.fixed } }
}

/**
 * Adds the author of these arguments. Removes the author of the previous arguments, because the new author has
 * reviewed them.
 */
async function withEditor(tx: Tx, gate: store.Gate, userId: string): Promise<store.GateInitiator[]> {
  const link = { kind: 'person' as const, id: toWire('usr', userId), user_id: userId }
  const editors = (await withKeyHolders(tx, [link], null)).map((one) => ({ ...one, kind: 'editor' as const }))
  return [...(gate.initiators ?? []).filter(({ kind }) => kind !== 'editor'), ...editors]
}

function changedNames(before: Json, after: JsonObject): string[] {
  const [old, now] = [isObject(before) ? before.arguments : undefined, after.arguments].map((one) =>
    isObject(one) ? one : {},
  ) as [JsonObject, JsonObject]
  const textOf = (value: Json | undefined): string => (value === undefined ? '' : canonicalText(value))
  return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (name) => textOf(old[name]) !== textOf(now[name]),
  )
}
