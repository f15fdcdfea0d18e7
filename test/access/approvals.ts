import { fromWire } from '#platform/ids'
import { until } from '#test/harness/until'
import { waiting } from './executions.ts'
import { type Cases, type Cast, type Expected, kinds, type Prepared, rows, withChanges } from './matrix.ts'

const gated = (approver: string) => ({
  nodes: [
    {
      id: 'gate',
      type: 'approval',
      args: {
        title: 'Go?',
        payload: { amount: 5 },
        policy: { approvers: [{ kind: 'user', id: approver }], quorum: 'any', allow_self: true },
      },
    },
    { id: 'after', type: 'set', args: { values: { done: true } } },
  ],
  edges: [{ from: { node: 'gate', port: 'approved' }, to: 'after' }],
  output: null,
})

async function gate(cast: Cast): Promise<Prepared> {
  const { params } = await waiting(cast, gated(cast.author.id))
  const { body } = await cast.author.call('GET', `/api/workflows/executions/${params!.execution_id}/approvals`)
  const [request] = body.items
  return {
    params: { request_id: request.request_id },
    body: { decision: 'approve', payload_sha256: request.payload_sha256 },
  }
}

/** Opens a gate of the kind that an agent opens about a tool call: its arguments can be edited. */
async function callGate(cast: Cast): Promise<Prepared> {
  const { params, body } = await gate(cast)
  const editable = { schema: {}, full: {}, fixed: {} }
  await cast.service.sql('update approval_requests set editable = $2 where request_id = $1', [
    fromWire('apr', params!.request_id!),
    JSON.stringify(editable),
  ])
  const { payload_sha256 } = body as { payload_sha256: string }
  return { params: params!, body: { arguments: { amount: 6 }, payload_sha256 } }
}

/** Prepares an answer that later questions may reuse. */
async function kept(cast: Cast): Promise<Prepared> {
  const definition = {
    nodes: [
      { id: 'ask', type: 'clarification', args: { question: 'Which?', schema: {}, reuse: { key: 'k', for_s: 60 } } },
    ],
  }
  await cast.service.sql('update questions set withdrawn_at = now() where workspace_id = $1', [cast.workspace.uuid])
  const { params } = await waiting(cast, definition)
  const { body } = await cast.author.call('POST', `/api/workflows/executions/${params!.execution_id}/respond`, {
    body: { response: 'green' },
  })
  return { params: { clarification_id: body.clarification_id as string } }
}

const links = new WeakMap<Cast, Promise<Prepared>>()

/**
 * Returns the link of the mail that an approver gets. No case answers through the link, so each cast needs only one
 * link.
 */
async function mailed(cast: Cast): Promise<Prepared> {
  if (!links.has(cast)) links.set(cast, makeLink(cast))
  await cast.service.sql('update reach_messages set codes_sent = 0')
  return links.get(cast)!
}

async function makeLink(cast: Cast): Promise<Prepared> {
  const { author, service } = cast
  const preferences = [{ kind: 'approval.requested', app: true, mail: true }]
  await author.call('PUT', '/api/notifications/preferences', { body: { preferences } })
  await service.sql('delete from mail_outbox where $1 = any (recipient)', [author.email])
  await gate(cast)
  const text = await until(async () => {
    const [row] = await service.sql<{ body_text: string }>(
      'select body_text from mail_outbox where $1 = any (recipient)',
      [author.email],
    )
    return row?.body_text
  }, 'the mail')
  return { params: { interaction: /\/answer\/([\w-]+)/.exec(text)![1]! } }
}

export const approvalCases: Cases = {
  listInbox: { expect: rows.selectedRead },
  listDecided: { expect: rows.selectedRead },
  listQuestionInbox: { expect: rows.selectedRead },
  listAgreement: { expect: rows.selectedRead },
  // Every user who sees the execution sees its gates; only the approvers of the policy may vote.
  getApproval: { expect: rows.hiddenAnyMember, prepare: async (cast) => ({ params: (await gate(cast)).params! }) },
  castVote: { expect: rows.hiddenOwnerOnly, prepare: gate },
  editArguments: { expect: rows.hiddenOwnerOnly, prepare: callGate },
  listKeptAnswers: { expect: rows.selectedRead },
  withdrawAnswer: {
    // The author gave the answer; owners of the workspace may withdraw it, too.
    expect: withChanges(rows.hiddenOwnerOnly, {
      guest: 403,
      workspaceOwner: 'ok',
      resourceMember: 404,
      resourceViewer: 404,
    }),
    prepare: kept,
  },
  getInteraction: { expect: rows.anyone, prepare: mailed, plainParameters: ['interaction'] },
  sendInteractionCode: { expect: rows.anyone, prepare: mailed, plainParameters: ['interaction'] },
  // The link alone is not enough: a session of the recipient or a code must prove who answers.
  answerInteraction: {
    expect: Object.fromEntries(kinds.map((kind) => [kind, 403])) as Expected,
    prepare: async (cast) => ({
      ...(await mailed(cast)),
      body: { decision: 'approve', payload_sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' },
    }),
    plainParameters: ['interaction'],
  },
  delegateVote: {
    expect: rows.hiddenOwnerOnly,
    prepare: async (cast) => ({
      params: (await gate(cast)).params!,
      body: { user_id: cast.member.id === cast.author.id ? cast.author.id : cast.member.id },
    }),
  },
}
