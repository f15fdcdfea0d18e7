import { editor, member, viewer, workspaceOwner } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { page } from '#platform/http/schema'
import { IssuedTicket, socketOf } from '#platform/realtime/tickets'
import {
  createCannedAnswer,
  deleteCannedAnswer,
  getCannedAnswer,
  listCannedAnswers,
  mayChangeCannedAnswer,
  updateCannedAnswer,
} from './canned.ts'
import { getOpeningHours, getTemplateHours, putOpeningHours, putTemplateHours } from './hours.ts'
import { createNote, deleteNote, getNote, listNotes, mayChangeNote, mayDeleteNote, updateNote } from './notes.ts'
import {
  CannedAnswer,
  CannedAnswerPatch,
  Conversation,
  ConversationPatch,
  ConversationQuery,
  cannedList,
  NewCannedAnswer,
  Note,
  NoteInput,
  noteList,
  OpeningHours,
  OpeningHoursInput,
  ReadMark,
} from './schema.ts'
import {
  createConversationTicket,
  getConversation,
  type Inbox,
  listConversations,
  markConversationRead,
} from './service.ts'

const exampleHours = {
  time_zone: 'Europe/Berlin',
  days: { mon: [{ from: '09:00', to: '17:00' }], fri: [{ from: '09:00', to: '13:00' }] },
  closed_on: ['2026-12-25'],
}

const exampleAnswer = { hours: exampleHours, updated_at: '2026-01-31T09:30:00.000Z' }

export const inboxRoutes = (inbox: Inbox): AnyRoute[] => [
  ...conversationRoutes(inbox),
  ...noteRoutes(),
  ...cannedRoutes(),
  ...hoursRoutes(),
]

const conversationRoutes = (inbox: Inbox): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      listConversations: ['GET', '/api/conversations', viewer('workspace')],
      getConversation: ['GET', '/api/conversations/:thread_id', viewer('thread')],
      updateConversation: ['PATCH', '/api/conversations/:thread_id', member('thread')],
      markConversationRead: ['POST', '/api/conversations/:thread_id/read', viewer('thread')],
      createConversationTicket: ['POST', '/auth/conversation-ticket', viewer('workspace'), 'read'],
    },
    {
      listConversations: {
        summary: 'The inbox: conversations with visitors and channels that the caller may read, last changed first',
        description:
          'Readable by the owners of the workspace, the creator of the template or the channel, and the members of the teams of the template. Messages are read and written under `/api/chat-thread/{thread_id}/messages`.',
        extension: true,
        query: ConversationQuery,
        answer: page(Conversation),
        run: listConversations,
      },
      getConversation: {
        summary: 'One conversation of the inbox',
        extension: true,
        answer: Conversation,
        run: getConversation,
      },
      updateConversation: {
        summary: 'Close, reopen or assign a conversation',
        description:
          'The colleague gets the notification `thread.assigned`. The assistant continues to answer until a colleague takes over.',
        extension: true,
        body: ConversationPatch,
        answer: Conversation,
        allowed: getConversation,
        current: getConversation,
        examples: { body: { assignee_id: 'usr_01kf3v6h2he3wtpk1fw5c0wz9d' } },
        run: inbox.updateConversation,
      },
      markConversationRead: {
        summary: 'Mark a conversation as read by the caller, up to a message',
        extension: true,
        body: ReadMark,
        answer: Conversation,
        allowed: getConversation,
        run: markConversationRead,
      },
      createConversationTicket: {
        summary: 'A ticket for a socket that reports changes of conversations of the workspace',
        description: 'A frame does not say what changed: read the data that you show again.',
        extension: true,
        answer: IssuedTicket,
        status: 201,
        location: socketOf,
        run: createConversationTicket,
      },
    },
  )

const noteRoutes = (): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      listConversationNotes: ['GET', '/api/conversations/:thread_id/notes', viewer('thread')],
      createConversationNote: ['POST', '/api/conversations/:thread_id/notes', member('thread')],
      getConversationNote: ['GET', '/api/conversations/:thread_id/notes/:note_id', viewer('thread')],
      updateConversationNote: ['PATCH', '/api/conversations/:thread_id/notes/:note_id', member('thread')],
      deleteConversationNote: ['DELETE', '/api/conversations/:thread_id/notes/:note_id', member('thread')],
    },
    {
      listConversationNotes: {
        summary: 'Notes of colleagues on a conversation, oldest first',
        extension: true,
        query: noteList.query,
        answer: page(Note),
        run: listNotes,
      },
      createConversationNote: {
        summary: 'Write a note for colleagues',
        description: 'Neither the person outside nor a language model ever reads it.',
        extension: true,
        body: NoteInput,
        answer: Note,
        status: 201,
        location: ({ thread_id, note_id }) => `/api/conversations/${thread_id}/notes/${note_id}`,
        alsoRefuses: [409],
        allowed: getConversation,
        examples: { body: { text: 'Refund agreed on the phone.' } },
        run: createNote,
      },
      getConversationNote: { summary: 'One note', extension: true, answer: Note, run: getNote },
      updateConversationNote: {
        summary: 'Change the text of a note (its author)',
        extension: true,
        body: NoteInput,
        answer: Note,
        allowed: mayChangeNote,
        current: getNote,
        run: updateNote,
      },
      deleteConversationNote: {
        summary: 'Delete a note (its author, or an owner of the workspace)',
        extension: true,
        status: 204,
        allowed: mayDeleteNote,
        current: getNote,
        run: deleteNote,
      },
    },
  )

const cannedRoutes = (): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      listCannedAnswers: ['GET', '/api/canned-answers', viewer('workspace')],
      createCannedAnswer: ['POST', '/api/canned-answers', member('workspace')],
      getCannedAnswer: ['GET', '/api/canned-answers/:answer_id', viewer('workspace')],
      updateCannedAnswer: ['PATCH', '/api/canned-answers/:answer_id', member('workspace')],
      deleteCannedAnswer: ['DELETE', '/api/canned-answers/:answer_id', member('workspace')],
    },
    {
      listCannedAnswers: {
        summary: 'Canned answers of the workspace, by name',
        extension: true,
        query: cannedList.query,
        answer: page(CannedAnswer),
        run: listCannedAnswers,
      },
      createCannedAnswer: {
        summary: 'Add a canned answer',
        description:
          'Names are unique within a workspace. Members can change the answers that they added, owners of the workspace can change all.',
        extension: true,
        body: NewCannedAnswer,
        answer: CannedAnswer,
        status: 201,
        location: ({ answer_id }) => `/api/canned-answers/${answer_id}`,
        alsoRefuses: [409],
        examples: { body: { name: 'Parcel', text: 'Your parcel is on its way.' } },
        run: createCannedAnswer,
      },
      getCannedAnswer: { summary: 'One canned answer', extension: true, answer: CannedAnswer, run: getCannedAnswer },
      updateCannedAnswer: {
        summary: 'Change a canned answer',
        extension: true,
        body: CannedAnswerPatch,
        answer: CannedAnswer,
        alsoRefuses: [409],
        allowed: mayChangeCannedAnswer,
        current: getCannedAnswer,
        run: updateCannedAnswer,
      },
      deleteCannedAnswer: {
        summary: 'Delete a canned answer',
        extension: true,
        status: 204,
        allowed: mayChangeCannedAnswer,
        current: getCannedAnswer,
        run: deleteCannedAnswer,
      },
    },
  )

const hoursRoutes = (): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      getOpeningHours: ['GET', '/api/opening-hours', viewer('workspace')],
      putOpeningHours: ['PUT', '/api/opening-hours', workspaceOwner],
      getTemplateHours: ['GET', '/api/templates/:template_id/opening-hours', viewer('template')],
      putTemplateHours: ['PUT', '/api/templates/:template_id/opening-hours', editor('template')],
    },
    {
      getOpeningHours: {
        summary: 'The opening hours of the workspace',
        extension: true,
        answer: OpeningHours,
        examples: { answer: exampleAnswer },
        run: getOpeningHours,
      },
      putOpeningHours: {
        summary: 'Set the opening hours of the workspace, or remove them',
        description:
          'Outside these hours, visitors who ask for a person or write to a colleague see when the next opening hours start. Templates may have their own.',
        extension: true,
        body: OpeningHoursInput,
        answer: OpeningHours,
        current: getOpeningHours,
        examples: { body: { hours: exampleHours }, answer: exampleAnswer },
        run: putOpeningHours,
      },
      getTemplateHours: {
        summary: 'Opening hours of a template; null if it uses those of the workspace',
        extension: true,
        answer: OpeningHours,
        examples: { answer: exampleAnswer },
        run: getTemplateHours,
      },
      putTemplateHours: {
        summary: 'Set the opening hours of a template, or remove them',
        extension: true,
        body: OpeningHoursInput,
        answer: OpeningHours,
        current: getTemplateHours,
        examples: { body: { hours: exampleHours }, answer: exampleAnswer },
        run: putTemplateHours,
      },
    },
  )
