import { recordAudit } from '#platform/audit'
import { TOKENS_CHANGED } from '#platform/auth/tokens'
import type { Tx } from '#platform/db/pool'
import { invalid, problem, unknownReference } from '#platform/errors'
import { deliverEvent } from '#platform/events'
import type { Context } from '#platform/http/context'
import type { ListInput } from '#platform/http/list'
import { toWire } from '#platform/ids'
import type { Transfer } from './schema.ts'
import { lockWorkflow } from './store.ts'
import * as store from './transfer-store.ts'

// A workflow acts with the rights of people, so ownership requires consent. The owner offers the workflow, and the
// receiver accepts or declines. The workflow does not run until a person with the right has activated a version.

type ById = { workflow_id: string }

const pending = (row: store.TransferRow): Transfer => ({ ...row, state: 'pending' })

export const offerWorkflow = (ctx: Context, input: ById & { user_id: string }): Promise<Transfer> =>
  offerTo(ctx, input, '/user_id')

/** Offers a workflow to a member of the workspace. `path` is the path of the user id in the request. */
export async function offerTo(
  ctx: Context,
  { workflow_id, user_id }: ById & { user_id: string },
  path: string,
): Promise<Transfer> {
  const { workspace_id } = ctx.workspace
  const workflow = await lockWorkflow(ctx.tx, workspace_id, workflow_id)
  if (!workflow) throw problem('not_found')
  const receiver = await ctx.tx.maybe<{ role: string }>(
    'select role from memberships where workspace_id = $1 and user_id = $2',
    [workspace_id, user_id],
  )
  if (!receiver) throw unknownReference(path)
  if (user_id === ctx.person.user_id) throw invalid([{ path, message: 'owns the workflow already' }])
  if (receiver.role !== 'owner' && receiver.role !== 'member')
    throw invalid([{ path, message: `is a ${receiver.role} of the workspace, who cannot own workflows` }])
  const present = await store.findTransfer(ctx.tx, workspace_id, workflow_id)
  if (present?.to_user_id === user_id) {
    ctx.status(200)
    return pending(present)
  }
  if (present)
    throw problem(
      'conflict',
      'The workflow is already offered to another person. Withdraw that offer first (DELETE …/transfer).',
    )
  await store.insertTransfer(ctx.tx, workspace_id, { workflowId: workflow_id, from: ctx.person.user_id, to: user_id })
  const transfer = (await store.findTransfer(ctx.tx, workspace_id, workflow_id))!
  await audit(ctx, 'workflow.transfer_offered', transfer)
  await deliverEvent(ctx.tx, {
    workspaceId: workspace_id,
    kind: 'workflow.transfer_offered',
    title: `${ctx.person.name} offers you the workflow "${transfer.workflow_name}"`,
    body: 'If you accept, you own it. It runs with your rights once you have activated a version.',
    data: { workflow_id: toWire('wf', workflow_id), from_user_id: toWire('usr', ctx.person.user_id) },
    link: `/workflows/${toWire('wf', workflow_id)}`,
    to: [user_id],
  })
  return pending(transfer)
}

/** Only the two people involved can read a transfer. */
export async function getTransfer(ctx: Context, { workflow_id }: ById): Promise<Transfer> {
  const transfer = await store.findTransfer(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  const me = ctx.person.user_id
  if (!transfer || (transfer.from_user_id !== me && transfer.to_user_id !== me)) throw noTransfer()
  return pending(transfer)
}

export async function listTransfers(ctx: Context, asked: ListInput) {
  const page = await store.listTransfersTo(ctx.tx, ctx.workspace.workspace_id, ctx.person.user_id, asked)
  return { ...page, items: page.items.map(pending) }
}

export async function withdrawTransfer(ctx: Context, { workflow_id }: ById): Promise<void> {
  const { workspace_id } = ctx.workspace
  await lockWorkflow(ctx.tx, workspace_id, workflow_id)
  const transfer = await store.findTransfer(ctx.tx, workspace_id, workflow_id)
  if (!transfer) throw noTransfer()
  await store.deleteTransfer(ctx.tx, workspace_id, workflow_id)
  await audit(ctx, 'workflow.transfer_withdrawn', transfer)
  await notify(ctx.tx, workspace_id, transfer, 'withdrawn', transfer.to_user_id)
}

export async function acceptTransfer(ctx: Context, { workflow_id }: ById): Promise<Transfer> {
  const { workspace_id } = ctx.workspace
  const transfer = await takeOffer(ctx, workflow_id)
  if (ctx.workspace.role !== 'owner' && ctx.workspace.role !== 'member')
    throw problem('forbidden', `A ${ctx.workspace.role} of the workspace cannot own workflows.`)
  await store.giveTo(ctx.tx, workspace_id, workflow_id, ctx.person.user_id)
  ctx.tx.hint(TOKENS_CHANGED, workflow_id)
  await store.deleteTransfer(ctx.tx, workspace_id, workflow_id)
  await audit(ctx, 'workflow.transferred', transfer)
  await notify(ctx.tx, workspace_id, transfer, 'accepted', transfer.from_user_id)
  await deliverEvent(ctx.tx, {
    workspaceId: workspace_id,
    kind: 'workflow.activation_required',
    title: `Activate a version of "${transfer.workflow_name}" to let it run`,
    body: `Until then it is refused with activation_required.${await startersText(ctx.tx, workspace_id, workflow_id)}`,
    data: { workflow_id: toWire('wf', workflow_id) },
    link: `/workflows/${toWire('wf', workflow_id)}`,
    to: [ctx.person.user_id],
  })
  return { ...transfer, state: 'accepted' }
}

export async function declineTransfer(ctx: Context, { workflow_id }: ById): Promise<Transfer> {
  const { workspace_id } = ctx.workspace
  const transfer = await takeOffer(ctx, workflow_id)
  await store.deleteTransfer(ctx.tx, workspace_id, workflow_id)
  await audit(ctx, 'workflow.transfer_declined', transfer)
  await notify(ctx.tx, workspace_id, transfer, 'declined', transfer.from_user_id)
  return { ...transfer, state: 'declined' }
}

/** Returns the offer to the caller. */
export async function getOffer(ctx: Context, { workflow_id }: ById): Promise<store.TransferRow> {
  const transfer = await store.findTransfer(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  if (transfer?.to_user_id !== ctx.person.user_id) throw noTransfer()
  return transfer
}

/** Locks the workflow and returns the offer. Of two concurrent answers, the second finds no offer. */
async function takeOffer(ctx: Context, workflow_id: string): Promise<store.TransferRow> {
  await lockWorkflow(ctx.tx, ctx.workspace.workspace_id, workflow_id)
  return getOffer(ctx, { workflow_id })
}

const noTransfer = () => problem('not_found', 'The workflow is not offered to you.')

const audit = (ctx: Context, action: string, { workflow_id, from_user_id, to_user_id }: store.TransferRow) =>
  recordAudit(ctx, ctx.tx, {
    action,
    subject: toWire('wf', workflow_id),
    data: { from: toWire('usr', from_user_id), to: toWire('usr', to_user_id) },
  })

const notify = (
  tx: Tx,
  workspaceId: string,
  { workflow_id, workflow_name }: store.TransferRow,
  what: 'withdrawn' | 'accepted' | 'declined',
  to: string,
): Promise<unknown> =>
  deliverEvent(tx, {
    workspaceId,
    kind: `workflow.transfer_${what}`,
    title: `The offer of the workflow "${workflow_name}" was ${what}`,
    data: { workflow_id: toWire('wf', workflow_id) },
    link: `/workflows/${toWire('wf', workflow_id)}`,
    to: [to],
  })

const NAMES = { schedules: 'schedules', webhook_tokens: 'webhook tokens', embed_tokens: 'embed tokens', jobs: 'jobs' }

async function startersText(tx: Tx, workspaceId: string, workflowId: string): Promise<string> {
  const counts = await store.countStarters(tx, workspaceId, workflowId)
  const found = Object.entries(counts).flatMap(([kind, count]) =>
    count === 0 ? [] : [`${count} ${NAMES[kind as keyof typeof NAMES]}`],
  )
  return found.length === 0 ? '' : ` It is started by ${found.join(', ')}. Check them.`
}
