import { anyone, member, orOneself, owner, sees, viewer } from '#platform/access/words'
import { type AnyRoute, routes } from '#platform/http/route'
import { listQuery, page } from '#platform/http/schema'
import type { Clips } from './clips.ts'
import type { ThreadMembers } from './members.ts'
import {
  FormAction,
  Invitation,
  MemberPatch,
  NewInvitation,
  NewThread,
  Playback,
  PostedMessage,
  SpeechRequest,
  Thread,
  ThreadMember,
  ThreadMessages,
  ThreadQuery,
  Transcript,
} from './schema.ts'
import type { Threads } from './service.ts'

const audioTypes = ['audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/webm']

export const threadRoutes = (threads: Threads, members: ThreadMembers, clips: Clips): AnyRoute[] =>
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
      inviteThreadMember: ['POST', '/api/chat-thread/:thread_id/invite', owner('thread')],
      listThreadMembers: ['GET', '/api/chat-thread/:thread_id/members', viewer('thread')],
      updateThreadMember: ['PATCH', '/api/chat-thread/:thread_id/members/:user_id', owner('thread')],
      removeThreadMember: ['DELETE', '/api/chat-thread/:thread_id/members/:user_id', orOneself(owner('thread'))],
      getThreadAudio: ['GET', '/api/chat-thread/:thread_id/audio/:audio_id', viewer('thread')],
      speakInThread: ['POST', '/api/chat-thread/:thread_id/speech', viewer('thread')],
      transcribeInThread: ['POST', '/api/chat-thread/:thread_id/transcribe', viewer('thread')],
      playAudio: ['GET', '/audio/:audio_id/:grant', anyone],
    },
    {
      listThreads: {
        summary: 'Threads of the selected workspace that the caller is in, newest first',
        description:
          'With `with=outside`: conversations with visitors and channels. Read, and taken over, by the owners of the workspace and whoever made the template or the channel; those of the widget of a workflow are read by its owner and members.',
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
      getThread: { summary: 'One thread', extension: true, answer: Thread, run: threads.getThread },
      listThreadMessages: {
        summary: 'What was said in the thread, oldest first, and the form that stands open',
        extension: true,
        query: listQuery,
        answer: ThreadMessages,
        run: threads.listMessages,
      },
      postThreadMessage: {
        summary: 'Say something in the thread',
        description:
          'JSON `{text, time_zone?}`, or multipart/form-data with `audio` (mp3, wav, ogg/opus or webm by content, at most 25 MiB) and optionally `text`: the clip is kept with the message. Without `text` the clip is transcribed. In a conversation with somebody outside, text only: they get it from the widget or the channel, and it takes the conversation over where nobody has. The answer is the message; `answers` is what the assistant said to it at once.',
        extension: true,
        bodyKind: 'any',
        consumes: ['application/json', 'multipart/form-data'],
        bodyLimit: 'audio',
        answer: PostedMessage,
        status: 201,
        location: (_message, path) => path,
        transaction: false,
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
        summary: 'Talk with a visitor, or somebody in a channel, in place of the assistant',
        description:
          'The assistant is silent until the conversation is handed back, the colleague leaves the workspace, or 12 hours pass without a word of theirs. What becomes of executions is still told. 409 `conflict` for a thread of colleagues.',
        extension: true,
        answer: Thread,
        run: threads.takeOver,
      },
      handThreadBack: {
        summary: 'Let the assistant answer again; what it had asked is asked again',
        extension: true,
        answer: Thread,
        run: threads.handBack,
      },
      inviteThreadMember: {
        summary: 'Invite a person to the thread by e-mail',
        description: 'A person of the workspace is added at once; anybody else is invited to this thread alone.',
        body: NewInvitation,
        answer: Invitation,
        status: 201,
        location: (_invitation, path) => path.replace(/invite$/, 'members'),
        run: members.inviteMember,
      },
      listThreadMembers: {
        summary: 'Members of the thread',
        query: listQuery,
        answer: page(ThreadMember),
        run: members.listMembers,
      },
      updateThreadMember: {
        summary: "Change a member's role",
        body: MemberPatch,
        answer: ThreadMember,
        current: members.getMember,
        run: members.updateMember,
      },
      removeThreadMember: {
        summary: 'Remove a member, or leave',
        status: 204,
        current: members.getMember,
        run: members.removeMember,
      },
      getThreadAudio: {
        summary: 'A signed address under which the clip can be heard for five minutes',
        answer: Playback,
        run: threads.getAudio,
      },
      speakInThread: {
        summary: 'Text in, audio out; nothing is stored',
        body: SpeechRequest,
        produces: ['audio/mpeg', 'audio/wav'],
        transaction: false,
        idempotency: 'none',
        examples: { body: { text: 'Good morning.', format: 'mp3' } },
        run: threads.speak,
      },
      transcribeInThread: {
        summary: 'Audio in, text out; nothing is stored',
        description: 'multipart/form-data with `audio`, or the audio itself as the body; told by its content.',
        bodyKind: 'any',
        consumes: ['multipart/form-data', ...audioTypes],
        bodyLimit: 'audio',
        answer: Transcript,
        transaction: false,
        idempotency: 'none',
        run: threads.transcribe,
      },
      playAudio: {
        summary: 'The bytes of a clip, by its signed address; takes Range',
        description: 'The address stands in `url` of the clip. Any other spelling, method or later time is refused.',
        extension: true,
        produces: audioTypes,
        transaction: false,
        run: clips.play,
      },
    },
  )
