import { makeTemplate } from '#test/harness/widget'
import { type Cases, type Cast, type Prepared, rows, withChanges } from './matrix.ts'
import { answeredFor, visited } from './threads.ts'

const withBody =
  (body: unknown) =>
  async (cast: Cast): Promise<Prepared> => ({ ...(await visited(cast)), body })

const noted =
  (body?: unknown) =>
  async (cast: Cast): Promise<Prepared> => {
    const { params } = await visited(cast)
    const made = await cast.author.call('POST', `/api/conversations/${params!.thread_id}/notes`, {
      body: { text: 'Case' },
    })
    return { params: { ...params, note_id: made.body.note_id as string }, ...(body !== undefined && { body }) }
  }

let made = 0
const canned =
  (body?: unknown) =>
  async ({ author }: Cast): Promise<Prepared> => {
    made += 1
    const answer = await author.call('POST', '/api/canned-answers', { body: { name: `Case ${made}`, text: 'Hello' } })
    return { params: { answer_id: answer.body.answer_id as string }, ...(body !== undefined && { body }) }
  }

const outside = { stranger: 404, operator: 404 } as const
/** Members change what they added; owners of the workspace change everything. */
const changing = withChanges(rows.selectedWrite, { ...outside, member: 403, resourceViewer: 403, resourceMember: 403 })

const hours = { hours: { time_zone: 'Europe/Berlin', days: { mon: [{ from: '09:00', to: '17:00' }] } } }
const template = async ({ author }: Cast): Promise<Prepared> => ({
  params: { template_id: await makeTemplate(author, []) },
})

export const inboxCases: Cases = {
  listConversations: {
    expect: rows.selectedRead,
    prepare: async (cast) => {
      await visited(cast)
      return {}
    },
  },
  getConversation: { expect: answeredFor, prepare: visited },
  updateConversation: { expect: answeredFor, prepare: withBody({ state: 'closed' }) },
  createConversationTicket: { expect: rows.selectedRead },
  markConversationRead: { expect: answeredFor, prepare: withBody({}) },
  listConversationNotes: { expect: answeredFor, prepare: noted() },
  createConversationNote: { expect: answeredFor, prepare: withBody({ text: 'Case' }) },
  getConversationNote: { expect: answeredFor, prepare: noted() },
  updateConversationNote: {
    expect: withChanges(answeredFor, { workspaceOwner: 403 }),
    prepare: noted({ text: 'Changed' }),
  },
  deleteConversationNote: { expect: answeredFor, prepare: noted() },
  listCannedAnswers: { expect: rows.selectedRead, prepare: canned() },
  createCannedAnswer: {
    expect: rows.selectedWrite,
    prepare: async () => {
      made += 1
      return { body: { name: `Made ${made}`, text: 'Hello' } }
    },
  },
  getCannedAnswer: { expect: withChanges(rows.selectedRead, outside), prepare: canned() },
  updateCannedAnswer: { expect: changing, prepare: canned({ text: 'Changed' }) },
  deleteCannedAnswer: { expect: changing, prepare: canned() },
  getOpeningHours: { expect: rows.selectedRead },
  putOpeningHours: { expect: rows.selectedOwnerOnly, prepare: async () => ({ body: hours }) },
  getTemplateHours: { expect: withChanges(rows.workspaceRead, { guest: 404 }), prepare: template },
  putTemplateHours: {
    expect: withChanges(rows.ownerOnly, { guest: 404, workspaceOwner: 'ok' }),
    prepare: async (cast) => ({ ...(await template(cast)), body: hours }),
  },
}
