import { createHash } from 'node:crypto'
import { NodeFailure } from '#engine/node'
import { approval } from '#engine/nodes/approval'
import { checkArgs } from '#engine/nodes/kind'
import type { Engine, Opened, PeopleWait, Settled } from '#engine/ports'
import { canonicalText } from '#model/canonical'
import type { Json } from '#model/definition'
import type { Database, Tx } from '#platform/db/pool'
import { deliverEvent } from '#platform/events'
import { newId, toWire } from '#platform/ids'
import { reasonToExclude } from './excluded.ts'
import { openedOnce } from './opened-once.ts'
import { given, readPolicy, toRows } from './policy.ts'
import { readStanding, readStandings } from './standings.ts'
import * as store from './store.ts'
import { decideGate, gateIsSatisfiable, isStuckByExclusion, type Standing } from './tally.ts'
import { voteJson } from './view.ts'
import * as voting from './voting-store.ts'

// The life of a gate: opened when an execution reaches an approval node, closed by votes, by its due time, or with the
// execution. Whatever closes it tells the engine in the same transaction.

/** Names the datasets the execution read that have changed since, or null. */
export type FingerprintCheck = (
  tx: Tx,
  workspaceId: string,
  executionId: string,
) => Promise<{ message: string; details: Json } | null>

export type GateDependencies = {
  db: Database
  engine: () => Pick<Engine, 'send'>
  changedDatasets: FingerprintCheck
  /** Agents owe votes now; a hint. */
  onAgentsAsked(): void
  /** In the transaction that opens the gate: a conversation says what it waits for. */
  onOpened?(tx: Tx, gate: Pick<store.Gate, 'workspace_id' | 'request_id' | 'execution_id' | 'title'>): Promise<void>
}

/** A reminder goes out when this share of the time to the due moment has passed. */
const REMIND_AT = 0.5
const RECHECKED_AT_ONCE = 50

const payloadSha256 = (payload: Json): string => createHash('sha256').update(canonicalText(payload)).digest('hex')

export function makeGates({ db, engine, changedDatasets, onAgentsAsked, onOpened }: GateDependencies) {
  const scope = (workspaceId: string) => ({ workspaceId, userId: null })

  async function tellVoters(tx: Tx, gate: store.Gate, kind: string, title: string): Promise<void> {
    const { outstanding } = await readStanding(tx, gate)
    await deliverEvent(tx, {
      workspaceId: gate.workspace_id,
      kind,
      title,
      ...(gate.due_at && { body: `Due ${gate.due_at.toISOString()}` }),
      data: { request_id: toWire('apr', gate.request_id), execution_id: toWire('exe', gate.execution_id) },
      link: `/approvals/${toWire('apr', gate.request_id)}`,
      to: outstanding.filter(({ kind: voter }) => voter === 'human').map(({ id }) => id),
    })
  }

  /** Owners of the workspace, and of the workflow, hear that nobody is left who could open the gate. */
  async function reportIfStuck(tx: Tx, standing: Standing): Promise<void> {
    const { gate } = standing
    const stuck = !gateIsSatisfiable(standing)
    if (stuck === gate.unsatisfiable) return
    await tx.count('update approval_requests set unsatisfiable = $3 where workspace_id = $1 and request_id = $2', [
      gate.workspace_id,
      gate.request_id,
      stuck,
    ])
    if (!stuck) return
    const owners = await tx.rows<{ user_id: string }>(
      `select user_id from memberships where workspace_id = $1 and role = 'owner'
       union select owner_id from workflows where workspace_id = $1 and workflow_id = $2`,
      [gate.workspace_id, gate.workflow_id],
    )
    await deliverEvent(tx, {
      workspaceId: gate.workspace_id,
      kind: 'approval.unsatisfiable',
      title: `Nobody can approve "${gate.title}" any more`,
      body: 'The people its policy names are gone or have voted. Bring one back, or cancel the execution.',
      data: { request_id: toWire('apr', gate.request_id), execution_id: toWire('exe', gate.execution_id) },
      link: `/approvals/${toWire('apr', gate.request_id)}`,
      to: owners.map(({ user_id }) => user_id),
    })
  }

  const remindAt = (gate: store.Gate): Date | null =>
    gate.due_at === null || gate.reminded
      ? null
      : new Date(gate.opened_at.getTime() + (gate.due_at.getTime() - gate.opened_at.getTime()) * REMIND_AT)

  const opened = (gate: store.Gate): Opened => ({
    data: {
      request_id: toWire('apr', gate.request_id),
      title: gate.title,
      payload_sha256: gate.payload_sha256,
      ...(gate.due_at && { due_at: gate.due_at.toISOString() }),
    },
    dueAt: remindAt(gate) ?? gate.due_at,
  })

  /** Called again after a crash it answers with the same gate; with another payload or version the gate is opened anew. */
  async function openGate(wait: PeopleWait): Promise<Opened> {
    checkArgs(approval.descriptor, given(wait.args))
    const policy = readPolicy(wait.args.policy)
    const payload = wait.args.payload ?? null
    const sha256 = payloadSha256(payload)
    const open = () =>
      db.tenant(scope(wait.workspaceId), async (tx) => {
        const present = await store.lockLatestGate(tx, wait.workspaceId, wait.executionId, wait.nodePath)
        // Perhaps resolved before the journal knew that it was opened, and opened again after a crash: it is the same gate.
        if (present && present.payload_sha256 === sha256 && present.version_id === wait.versionId)
          return present.outcome === null
            ? opened(present)
            : { ...opened(present), settled: await outcomeOf(tx, present) }
        if (present?.status === 'open')
          await store.closeGate(tx, wait.workspaceId, present.request_id, 'cancelled', null)
        const inserted = await store.insertGate(tx, {
          workspace_id: wait.workspaceId,
          request_id: newId(),
          execution_id: wait.executionId,
          workflow_id: wait.workflowId,
          version_id: wait.versionId,
          node_path: wait.nodePath,
          node_id: wait.nodeId,
          title: String(wait.args.title ?? wait.nodeId),
          payload,
          payload_sha256: sha256,
          policy,
          started_by: wait.startedBy,
          initiators: wait.initiatedBy,
        })
        await addApprovers(tx, inserted, policy.approvers)
        const gate = await escalateIfExcluded(tx, inserted)
        await tellVoters(tx, gate, 'approval.requested', `Your vote is needed: ${gate.title}`)
        await reportIfStuck(tx, await readStanding(tx, gate))
        await onOpened?.(tx, gate)
        return opened(gate)
      })
    const result = await openedOnce('approval_requests_one_open', open)
    if (policy.approvers.some(({ kind }) => kind === 'agent')) onAgentsAsked()
    return result
  }

  /**
   * Everybody who could open the gate led to the execution: those the policy escalates to are asked at once. Where nobody is
   * left then either, the node fails and says why; a gate that opens by itself when it is due may wait for that.
   */
  async function escalateIfExcluded(tx: Tx, gate: store.Gate): Promise<store.Gate> {
    const { policy } = gate
    let standing = await readStanding(tx, gate)
    if (!isStuckByExclusion(standing)) return gate
    if (policy.on_due === 'escalate') {
      const escalated = await store.markEscalated(tx, gate)
      await addApprovers(tx, escalated, policy.escalate_to)
      standing = await readStanding(tx, escalated)
      if (gateIsSatisfiable(standing)) return escalated
    }
    if (policy.on_due === 'approve' && policy.due_in_s !== null) return gate
    const people = standing.excluded.map(({ user_id, name }) => `${name} ${reasonToExclude(gate, user_id)}`)
    throw new NodeFailure(
      'approvers_excluded',
      `Nobody is left who may approve "${gate.title}": ${people.join('; ')}. Name another approver, or set allow_self.`,
      {
        retryable: false,
        details: {
          excluded: standing.excluded.map(({ user_id, name }) => ({ user_id: toWire('usr', user_id), name })),
        },
      },
    )
  }

  async function addApprovers(
    tx: Tx,
    gate: store.Gate,
    approvers: ReturnType<typeof readPolicy>['approvers'],
  ): Promise<void> {
    const rows = toRows(approvers)
    await voting.insertApprovers(tx, gate.workspace_id, gate.request_id, rows)
    const agents = rows.flatMap(({ agent }) => (agent === null ? [] : [agent]))
    if (agents.length === 0) return
    await tx.count(
      'insert into agent_reviews (workspace_id, request_id, agent) select $1, $2, unnest($3::text[]) on conflict do nothing',
      [gate.workspace_id, gate.request_id, agents],
    )
  }

  /** Closes the gate with what it counts as, and lets the execution go on. */
  async function resolve(
    tx: Tx,
    gate: store.Gate,
    status: 'approved' | 'rejected' | 'expired',
    outcome: 'approved' | 'rejected',
  ): Promise<void> {
    const to = {
      workspaceId: gate.workspace_id,
      executionId: gate.execution_id,
      key: `gate:${gate.request_id}:resolved`,
    }
    const changed = await changedDatasets(tx, gate.workspace_id, gate.execution_id)
    if (changed) {
      await store.closeGate(tx, gate.workspace_id, gate.request_id, 'cancelled', null)
      engine().send(tx, to, {
        type: 'node.failed',
        nodePath: gate.node_path,
        error: { code: 'dataset_changed', ...changed },
      })
      return
    }
    const closed = await store.closeGate(tx, gate.workspace_id, gate.request_id, status, outcome)
    if (gate.workflow_id !== null && status !== 'expired') await voting.recordAgreement(tx, gate, outcome)
    engine().send(tx, to, await outcomeOf(tx, closed))
  }

  /** What its execution is told of a gate that is resolved. */
  async function outcomeOf(tx: Tx, gate: store.Gate): Promise<Settled> {
    const { status, payload_sha256 } = gate
    const outcome = gate.outcome!
    const request_id = toWire('apr', gate.request_id)
    const votes = (await voting.listVotes(tx, gate.workspace_id, [gate.request_id])).map(voteJson)
    return {
      type: 'approval.resolved',
      nodePath: gate.node_path,
      outcome,
      output: { status, outcome, request_id, payload_sha256, votes },
      data: { node_id: gate.node_id, request_id, status, outcome, resolved_at: gate.resolved_at!.toISOString() },
    }
  }

  /** After a vote: does the gate open, close, or stand? */
  async function settle(tx: Tx, gate: store.Gate): Promise<void> {
    const standing = await readStanding(tx, gate)
    const decision = decideGate(standing)
    if (decision !== 'open') return resolve(tx, gate, decision, decision)
    return reportIfStuck(tx, standing)
  }

  /** The engine's timer: half way to the due time a reminder, then what `on_due` says. */
  async function gateDue(wait: {
    workspaceId: string
    executionId: string
    nodePath: string
  }): Promise<{ dueAt: Date | null }> {
    return db.tenant(scope(wait.workspaceId), async (tx) => {
      const gate = await store.lockLatestGate(tx, wait.workspaceId, wait.executionId, wait.nodePath)
      if (gate?.status !== 'open' || gate.due_at === null) return { dueAt: null }
      const { passed } = await tx.row<{ passed: boolean }>('select $1::timestamptz <= now() as passed', [gate.due_at])
      if (!passed) {
        if (!gate.reminded) {
          await tx.count('update approval_requests set reminded = true where workspace_id = $1 and request_id = $2', [
            gate.workspace_id,
            gate.request_id,
          ])
          await tellVoters(tx, gate, 'approval.reminder', `Still waiting for your vote: ${gate.title}`)
        }
        return { dueAt: gate.due_at }
      }
      const { on_due, escalate_to, due_in_s } = gate.policy
      if (on_due === 'escalate' && !gate.escalated && escalate_to.length > 0) {
        const escalated = await tx.row<store.Gate>(
          `update approval_requests set escalated = true, reminded = true, due_at = date_trunc('milliseconds', now() + make_interval(secs => $3)) where workspace_id = $1 and request_id = $2 returning *`,
          [gate.workspace_id, gate.request_id, due_in_s],
        )
        await addApprovers(tx, escalated, escalate_to)
        await tellVoters(tx, escalated, 'approval.escalated', `Escalated to you: ${gate.title}`)
        await reportIfStuck(tx, await readStanding(tx, escalated))
        return { dueAt: escalated.due_at }
      }
      await resolve(tx, gate, 'expired', on_due === 'approve' ? 'approved' : 'rejected')
      return { dueAt: null }
    })
  }

  /** The execution has ended, or the node at `path`: what it still asked is void. */
  async function cancelOpen(tx: Tx, workspaceId: string, executionId: string, path?: string): Promise<void> {
    for (const { request_id } of await store.lockOpenGates(tx, workspaceId, executionId, path))
      await store.closeGate(tx, workspaceId, request_id, 'cancelled', null)
  }

  /**
   * Somebody left: gates that only waited for their vote open, those that nobody can open any more are reported. A few at a time, so that no vote waits for the whole
   * workspace; those a vote holds at this moment are left for the next look, and the request for it stays until none is left.
   */
  async function recheckWorkspace(workspaceId: string): Promise<void> {
    const asked = await db.tenant(scope(workspaceId), (tx) =>
      tx.rows<{ recheck_id: number }>('select recheck_id from gate_rechecks where workspace_id = $1', [workspaceId]),
    )
    let heldByOthers = false
    for (let after: string | null = null; ; ) {
      const batch = await db.tenant(scope(workspaceId), async (tx) => {
        const ids = await store.listOpenGateIds(tx, workspaceId, after, RECHECKED_AT_ONCE)
        const locked = await store.lockFreeGates(tx, workspaceId, ids)
        for (const standing of await readStandings(tx, locked)) {
          if (decideGate(standing) === 'approved') await resolve(tx, standing.gate, 'approved', 'approved')
          else await reportIfStuck(tx, standing)
        }
        return { ids, locked: locked.length }
      })
      // One that was closed meanwhile counts as held, too: the next look finds it gone.
      if (batch.locked < batch.ids.length) heldByOthers = true
      if (batch.ids.length < RECHECKED_AT_ONCE) break
      after = batch.ids.at(-1)!
    }
    if (heldByOthers) return
    await db.tenant(scope(workspaceId), (tx) =>
      tx.count('delete from gate_rechecks where workspace_id = $1 and recheck_id = any ($2)', [
        workspaceId,
        asked.map(({ recheck_id }) => recheck_id),
      ]),
    )
  }

  return { openGate, gateDue, cancelOpen, recheckWorkspace, settle, tellVoters }
}

export type Gates = ReturnType<typeof makeGates>
