import { anyone, viewer } from '#platform/access/rules'
import { type AnyRoute, routes } from '#platform/http/route'
import { audioForm } from '#platform/http/schema'
import type { Clips } from './clips.ts'
import { Playback, SpeechRequest, Transcript } from './schema.ts'
import type { Threads } from './service.ts'

const audioTypes = ['audio/mpeg', 'audio/wav', 'audio/ogg', 'audio/webm']

export const threadAudioRoutes = (threads: Threads, clips: Clips): AnyRoute[] =>
  routes(
    'Chat threads',
    {
      getThreadAudio: ['GET', '/api/chat-thread/:thread_id/audio/:audio_id', viewer('thread')],
      speakInThread: ['POST', '/api/chat-thread/:thread_id/speech', viewer('thread'), 'run'],
      transcribeInThread: ['POST', '/api/chat-thread/:thread_id/transcribe', viewer('thread'), 'run'],
      playAudio: ['GET', '/audio/:audio_id/:grant', anyone],
    },
    {
      getThreadAudio: {
        summary: 'A signed address at which the clip can be played for five minutes',
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
        description:
          'multipart/form-data with `audio`, or the audio itself as the body. The format is detected from the content.',
        bodyKind: 'any',
        consumes: ['multipart/form-data'],
        described: { form: audioForm },
        bodyLimit: 'audio',
        answer: Transcript,
        transaction: false,
        idempotency: 'none',
        run: threads.transcribe,
      },
      playAudio: {
        summary: 'The bytes of a clip, at its signed address; supports Range',
        description:
          'The address is in `url` of the clip. A changed address, another method, or a request after it has expired is refused.',
        extension: true,
        produces: audioTypes,
        alsoStatus: [206],
        alsoRefuses: [416],
        transaction: false,
        run: clips.play,
      },
    },
  )
