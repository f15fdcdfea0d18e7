import { messageList } from '#areas/conversations/message-list'
import { member, sees, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { filePart, page } from '#platform/http/schema'
import {
  FormAction,
  NewClipMessage,
  NewMessage,
  NewThread,
  PostedMessage,
  Thread,
  ThreadMessages,
  ThreadQuery,
  ThreadWithUsage,
} from './schema.ts'
import type { Threads } from './service.ts'

export const threadRoutes = (threads: Threads): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      listThreads: ['GET', '/api/chat-thread', sees('workspace')],
      createThread: ['POST', '/api/chat-thread', member('workspace')],
      getThread: ['GET', '/api/chat-thread/:thread_id', viewer('thread')],
      listThreadMessages: ['GET', '/api/chat-thread/:thread_id/messages', viewer('thread')],
      postThreadMessage: ['POST', '/api/chat-thread/:thread_id/messages', member('thread')],
      actOnThreadForm: ['POST', '/api/chat-thread/:thread_id/action', member('thread')],
      takeThreadOver: ['POST', '/api/chat-thread/:thread_id/take-over', member('thread')],
      handThreadBack: ['POST', '/api/chat-thread/:thread_id/hand-back', member('thread')],
    },
    {
      listThreads: {
        summary: 'Threads of the selected workspace that the caller is in, newest first',
        description:
          'With `with=outside`: conversations with visitors and people in channels. The owners of the workspace and the creator of the template or channel can read them and take them over; conversations of the widget of a workflow can be read by its owner and members.',
        extension: true,
        query: ThreadQuery,
        answer: page(Thread),
        run: threads.listThreads,
      },
      createThread: {
        summary: 'Open a thread; with a template the assistant answers in it',
        extension: true,
        body: NewThread,
        answer: Thread,
        status: 201,
        location: ({ thread_id }) => `/api/chat-thread/${thread_id}`,
        examples: { body: { title: 'Refunds', template_id: 'tmpl_01kf3v6h2he3wtpk1fw5c0wz9d' } },
        run: threads.createThread,
      },
      getThread: {
        summary: 'One thread, with the usage of language models',
        extension: true,
        answer: ThreadWithUsage,
        run: threads.getThreadWithUsage,
      },
      listThreadMessages: {
        summary: 'The messages of the thread, oldest first, and the open form',
        extension: true,
        query: messageList.query,
        answer: ThreadMessages,
        run: threads.listMessages,
      },
      postThreadMessage: {
        summary: 'Send a message to the thread',
        description:
          'JSON `{text, time_zone?}`, or multipart/form-data with `audio` (mp3, wav, ogg/opus or webm by content, at most 25 MiB) and optionally `text`: the clip is kept with the message. Without `text` the clip is transcribed. A conversation with a visitor or a person in a channel accepts only text. The widget or the channel delivers it, and the caller takes the conversation over if no colleague has. The response is the message; `answers` contains the immediate answers of the assistant. With `Accept: text/event-stream` the text of an assistant is streamed while it writes; after a broken connection, repeat the request with the same `Idempotency-Key` and the last id as `Last-Event-ID` to continue.',
        extension: true,
        bodyKind: 'any',
        consumes: ['application/json', 'multipart/form-data'],
        described: { json: NewMessage, form: NewClipMessage.extend({ audio: filePart() }) },
        bodyLimit: 'audio',
        answer: PostedMessage,
        streams: true,
        status: 201,
        location: (_message, path) => path,
        transaction: false,
        examples: { body: { text: 'Where is my order?', time_zone: 'Europe/Berlin' } },
        run: threads.postMessage,
      },
      actOnThreadForm: {
        summary: 'Submit or cancel the form that the assistant shows',
        extension: true,
        body: FormAction,
        answer: PostedMessage,
        transaction: false,
        run: threads.actOnForm,
      },
      takeThreadOver: {
        summary: 'Talk to a visitor, or to a person in a channel, instead of the assistant',
        description:
          'The assistant is silent until the conversation is handed back, the colleague leaves the workspace, or the colleague writes nothing for 12 hours. Results of executions are still posted. A thread of colleagues gets 409 `conflict`.',
        extension: true,
        answer: Thread,
        run: threads.takeOver,
      },
      handThreadBack: {
        summary: 'Let the assistant answer again; its open questions are asked again',
        extension: true,
        answer: Thread,
        run: threads.handBack,
      },
    },
  )
