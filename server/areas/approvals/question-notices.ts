import { toStorableText } from '#model/storable'
import type { Tx } from '#platform/db/pool'
import { deliverEvent, settleNoticesAbout } from '#platform/events'
import { toWire } from '#platform/ids'
import { dueBody } from './due-text.ts'
import type { Row } from './question-store.ts'
import * as store from './question-store.ts'
import type { Rechecked } from './recheck.ts'

// Notifications about a question.

const MAX_TITLE = 300

export const questionForYou = ({ question }: Pick<Row, 'question'>): string => `A question for you: ${question}`

/** Notifies everyone who may answer now. */
export async function notifyAnswerers(tx: Tx, row: Row, kind: string, title: string): Promise<void> {
  await notify(tx, row, { kind, title, to: await store.listAnswerers(tx, row) })
}

type Notice = { kind: string; title: string; to: string[] }

async function notify(tx: Tx, row: Row, { kind, title, to }: Notice): Promise<void> {
  store.sendNotified(tx, row, [...new Set([...(row.notified ?? []), ...to])])
  await deliverEvent(tx, {
    workspaceId: row.workspace_id,
    kind,
    title: title.length <= MAX_TITLE ? title : `${toStorableText(title, MAX_TITLE - 1)}…`,
    ...dueBody(row.due_at),
    data: { clarification_id: toWire('clr', row.clarification_id), execution_id: toWire('exe', row.execution_id) },
    link: `/runs/${toWire('exe', row.execution_id)}`,
    to,
  })
}

/** Updates the notifications of everyone who was asked with the outcome. */
export const settleNotices = (
  tx: Tx,
  workspaceId: string,
  questions: readonly Pick<Row, 'clarification_id'>[],
  outcome: string,
): Promise<void> =>
  settleNoticesAbout(
    tx,
    workspaceId,
    questions.map(({ clarification_id }) => toWire('clr', clarification_id)),
    outcome,
  )

/** After a person has joined: sends the new answerers the notice that the others got when the question was asked. */
export const recheckedQuestions: Rechecked = {
  listOpenIds: store.listOpenIds,
  look: async (tx, workspaceId, ids) => ({
    changing: await store.listWithLateAnswerers(tx, workspaceId, ids),
    lockedByOthers: false,
  }),
  async change(tx, workspaceId, id) {
    const row = await store.lockFree(tx, workspaceId, id)
    if (!row) return false
    const to = (await store.listAnswerers(tx, row)).filter((person) => !row.notified?.includes(person))
    if (to.length > 0) await notify(tx, row, { kind: 'clarification.asked', title: questionForYou(row), to })
    return true
  },
}
