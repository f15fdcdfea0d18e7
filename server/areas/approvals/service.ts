import type { z } from 'zod'
import type { Engine } from '#engine/ports'
import type { Json, JsonObject } from '#model/definition'
import type { FindAccessLevel } from '#platform/access/check'
import { recordAudit } from '#platform/audit'
import { isUniqueViolation, type Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import { deliverEvent, settleNoticesAbout } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { decodeCursor, isUuid, toPage } from '#platform/http/page'
import { fromWire, newId, toWire, UNKNOWN_ID } from '#platform/ids'
import { bindVerbs } from '#platform/verbs'
import { dueBody } from './due-text.ts'
import { reasonToExclude } from './excluded.ts'
import type { Gates } from './gates.ts'
import { hasVoted, lockGate, notAVoter, requireVote } from './may-vote.ts'
import type { AgreementQuery, Approval, Delegation, EditedCall, NewVote, Vote } from './schema.ts'
import * as store from './store.ts'
import { gateView, gateViews, viewWithBounds, voteJson, voteView } from './view.ts'
import { readVotingState } from './voting-state.ts'
import * as voting from './voting-store.ts'

type ById = { request_id: string }

/** Lets a person see a gate if they can see its execution, may vote, have voted or edited the call. */
export const makeAccessLevelInGate =
  (accessLevelInExecution: FindAccessLevel): FindAccessLevel =>
  async (ctx, requestId) => {
    if (ctx.maybeWorkspace === null) return undefined
    const gate = await store.findGate(ctx.tx, ctx.workspace.workspace_id, requestId)
    if (!gate) return undefined
    const inExecution = await accessLevelInExecution(ctx, gate.execution_id)
    if (inExecution !== undefined && inExecution !== 'visible') return 'viewer'
    if (gate.edited_by === ctx.person.user_id) return 'viewer'
    const voters = await voting.listVoters(ctx.tx, gate.workspace_id, [requestId])
    if (voters.some(({ user_id }) => user_id === ctx.person.user_id)) return 'viewer'
    const votes = await voting.listVotes(ctx.tx, gate.workspace_id, [requestId])
    return hasVoted(votes, ctx.person.user_id) ? 'viewer' : undefined
  }

export type AgentVote = {
  agent: string
  name: string
  decision: 'approve' | 'reject' | 'abstain'
  rationale: string
  confidence: number | null
  evidence: unknown
  usage?: unknown
}

type Deps = { gates: Gates; engine: () => Pick<Engine, 'send'> }

async function readGate(ctx: Context, requestId: string): Promise<store.Gate> {
  const gate = await store.findGate(ctx.tx, ctx.workspace.workspace_id, requestId)
  if (!gate) throw problem('not_found')
  return gate
}

/** Records one vote at a locked, open gate, and applies its consequences. */
async function record(
  { gates, engine }: Deps,
  tx: Tx,
  gate: store.Gate,
  vote: Parameters<typeof voting.insertVote>[2],
): Promise<voting.VoteRow> {
  const row = await voting.insertVote(tx, gate.workspace_id, vote)
  engine().send(
    tx,
    { workspaceId: gate.workspace_id, executionId: gate.execution_id, key: `vote:${row.vote_id}` },
    {
      type: 'approval.voted',
      nodePath: gate.node_path,
      data: { node_id: gate.node_id, request_id: toWire('apr', gate.request_id), vote: voteJson(row) },
    },
  )
  const matters = [toWire('apr', gate.request_id)]
  await gates.settle(tx, gate, async () => {
    if (row.voter_kind === 'human')
      await settleNoticesAbout(tx, gate.workspace_id, matters, `You voted: ${row.decision}`, row.voter_id)
  })
  return row
}

export async function mayVote(ctx: Context, { request_id }: ById): Promise<void> {
  const gate = await readGate(ctx, request_id)
  const { votes, voters } = await readVotingState(ctx.tx, gate)
  const me = ctx.person.user_id
  if (!hasVoted(votes, me) && !voters.some(({ user_id }) => user_id === me))
    throw problem('forbidden', notAVoter(gate, me))
}

export const getApproval = async (ctx: Context, { request_id }: ById): Promise<Approval> =>
  viewWithBounds(ctx.tx, await readGate(ctx, request_id))

export async function listApprovalsOfExecution(
  ctx: Context,
  { execution_id, ...asked }: { execution_id: string } & ListInput,
) {
  const page = await store.listGatesOfExecution(ctx.tx, ctx.workspace.workspace_id, execution_id, asked)
  return { ...page, items: await gateViews(ctx.tx, page.items) }
}

export async function listInbox(ctx: Context, asked: ListInput) {
  const page = await store.listInbox(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)
  return { ...page, items: await gateViews(ctx.tx, page.items) }
}

export async function listDecided(ctx: Context, asked: ListInput) {
  const page = await store.listDecided(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)
  return { ...page, items: await gateViews(ctx.tx, page.items) }
}

export const castVote = (deps: Deps, ctx: Context, { request_id, ...vote }: ById & NewVote): Promise<Vote> =>
  castVoteOf(deps, ctx.tx, ctx.person, { workspaceId: ctx.workspace.workspace_id, requestId: request_id, ...vote })

/** `evidence` describes how the person was identified, if not by signing in. */
type VoteOfPerson = NewVote & { workspaceId: string; requestId: string; evidence?: Json }

/**
 * Casts the vote of a person whom the caller has identified. Everything else is checked here, no matter how the
 * person was identified.
 */
export async function castVoteOf(
  deps: Deps,
  tx: Tx,
  { user_id, name }: { user_id: string; name: string },
  { workspaceId, requestId, decision, comment, payload_sha256, evidence = null }: VoteOfPerson,
): Promise<Vote> {
  const gate = await lockGate(tx, workspaceId, requestId)
  const { voter } = await requireVote(tx, gate, user_id, 'A vote cannot be changed.')
  if (payload_sha256 !== gate.payload_sha256)
    throw problem('payload_changed', 'Read the gate again and vote on what it says now.')
  try {
    const row = await record(deps, tx, gate, {
      vote_id: newId(),
      request_id: requestId,
      voter_kind: 'human',
      voter_id: user_id,
      voter_name: name,
      voter_role: voter.role,
      decision,
      comment: comment ?? null,
      rationale: null,
      confidence: null,
      evidence,
      payload_sha256,
    })
    return voteView(row)
  } catch (error) {
    if (isUniqueViolation(error)) throw problem('already_voted', 'A vote cannot be changed.')
    throw error
  }
}

/**
 * Casts the vote of an agent. Ignores the vote if the gate has closed in the meantime or the agent has already voted.
 */
export async function castAgentVote(
  deps: Deps,
  tx: Tx,
  workspaceId: string,
  requestId: string,
  vote: AgentVote,
): Promise<void> {
  const gate = await store.lockGate(tx, workspaceId, requestId)
  if (gate?.status !== 'open') return
  const votes = await voting.listVotes(tx, workspaceId, [requestId])
  if (votes.some(({ voter_kind, voter_id }) => voter_kind === 'agent' && voter_id === vote.agent)) return
  await record(deps, tx, gate, {
    vote_id: newId(),
    request_id: requestId,
    voter_kind: 'agent',
    voter_id: vote.agent,
    voter_name: vote.name,
    voter_role: null,
    decision: vote.decision,
    comment: null,
    rationale: vote.rationale,
    confidence: vote.confidence,
    evidence: (vote.evidence ?? null) as never,
    usage: (vote.usage ?? null) as never,
    payload_sha256: gate.payload_sha256,
  })
}

/** Edits the arguments of a tool call. The edited call is a different payload with a new gate, which is returned. */
export async function editArguments(
  { gates }: Deps,
  ctx: Context,
  { request_id, payload_sha256, comment, ...edit }: ById & EditedCall,
): Promise<Approval> {
  const gate = await lockGate(ctx.tx, ctx.workspace.workspace_id, request_id)
  const { user_id, name } = ctx.person
  await requireVote(ctx.tx, gate, user_id, 'You have voted on these arguments already.')
  if (payload_sha256 !== gate.payload_sha256)
    throw problem('payload_changed', 'Read the gate again and edit its current arguments.')
  const next = await gates.editCall(ctx.tx, gate, {
    arguments: edit.arguments as JsonObject,
    comment: comment || null,
    editor: { user_id, name },
  })
  await recordAudit(ctx, ctx.tx, {
    action: 'approval.edited',
    subject: toWire('apr', request_id),
    data: { replaced_by: toWire('apr', next.request_id), payload_sha256: next.payload_sha256 },
  })
  return viewWithBounds(ctx.tx, next)
}

/** Delegates the caller's own vote to a colleague. A vote that is delegated again moves on; it is never split. */
export async function delegateVote(
  ctx: Context,
  { request_id, user_id }: ById & z.output<typeof Delegation>,
): Promise<Approval> {
  const gate = await lockGate(ctx.tx, ctx.workspace.workspace_id, request_id)
  const me = ctx.person.user_id
  const { standing } = await requireVote(ctx.tx, gate, me, 'You have already voted, so the vote cannot be handed on.')
  const { votes, voters } = standing
  const colleague = await ctx.tx.maybe<{ role: string; kind: string }>(
    `select m.role, u.kind from memberships m join users u using (user_id) where m.workspace_id = $1 and m.user_id = $2`,
    [gate.workspace_id, user_id],
  )
  if (!colleague) throw unknownReference('/user_id')
  if (colleague.kind === 'service_account')
    throw invalid([{ path: '/user_id', message: 'is a service account, which votes only where the policy names it' }])
  if (colleague.role === 'guest')
    throw invalid([{ path: '/user_id', message: 'is a guest, who sees only what they were invited to' }])
  if (user_id === me || voters.some((voter) => voter.user_id === user_id))
    throw invalid([{ path: '/user_id', message: 'already has a vote of their own' }])
  if (hasVoted(votes, user_id)) throw invalid([{ path: '/user_id', message: 'has voted already' }])
  const reason = reasonToExclude(gate, user_id)
  if (reason !== null) throw invalid([{ path: '/user_id', message: `${reason} and may not approve it` }])
  await store.moveVote(ctx.tx, gate, me, user_id)
  if (gate.notified) store.sendNotified(ctx.tx, gate, [...gate.notified.filter((id) => id !== me), user_id])
  await recordAudit(ctx, ctx.tx, {
    action: 'approval.delegated',
    subject: toWire('apr', request_id),
    data: { from: toWire('usr', me), to: toWire('usr', user_id) },
  })
  await deliverEvent(ctx.tx, {
    workspaceId: gate.workspace_id,
    kind: 'approval.delegated',
    title: `${ctx.person.name} delegated a vote to you: ${gate.title}`,
    ...dueBody(gate.due_at),
    data: { request_id: toWire('apr', request_id) },
    link: `/approvals/${toWire('apr', request_id)}`,
    to: [user_id],
  })
  return gateView(ctx.tx, gate)
}

export async function listAgreement(ctx: Context, { workflow_id, cursor, limit }: AgreementQuery) {
  const wanted = workflow_id === undefined ? null : (fromWire('wf', workflow_id) ?? UNKNOWN_ID)
  const rows = await voting.listAgreement(
    ctx.tx,
    ctx.workspace.workspace_id,
    wanted,
    decodeAgreementCursor(cursor),
    limit,
  )
  return toPage(rows, limit, (row) => [row.agent, row.workflow_id, row.node_id])
}

const verbsOfApprovals = {
  castVote,
  castVoteOf,
  castAgentVote,
  editArguments,
}

export function makeApprovals(dependencies: Deps) {
  return {
    ...bindVerbs<Deps, typeof verbsOfApprovals>(dependencies, verbsOfApprovals),
    mayVote,
    getApproval,
    listApprovalsOfExecution,
    listInbox,
    listDecided,
    delegateVote,
    listAgreement,
  }
}

function decodeAgreementCursor(cursor: string | undefined): readonly [string, string, string] | null {
  const key = decodeCursor(cursor, 3)
  if (key === undefined) return null
  const [agent, workflowId, nodeId] = key
  if (typeof agent === 'string' && typeof nodeId === 'string' && typeof workflowId === 'string' && isUuid(workflowId))
    return [agent, workflowId, nodeId]
  throw invalid([{ path: '/cursor', message: 'is not a cursor of this list' }])
}

export type Approvals = ReturnType<typeof makeApprovals>
