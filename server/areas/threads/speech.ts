import { toAudioProblem } from '#areas/conversations/audio'
import { invalid, problem } from '#platform/errors'
import type { Speech, SpeechRequest, SpokenAudio } from '#providers/speech/index'
import type { AudioFacts, Transcript, Transcription } from '#providers/transcription/index'

// Converts text to audio and back. Nothing is stored, logged or cached here.

type Heard = { bytes: Buffer; workspaceId: string; signal: AbortSignal }

export type ThreadSpeech = {
  speak(request: SpeechRequest): Promise<SpokenAudio>
  listen(request: Heard): Promise<Transcript>
  /** Determines the actual type and duration of a clip. */
  inspect(request: Heard): Promise<AudioFacts>
}

export const makeThreadSpeech = ({
  speech,
  transcription,
}: {
  speech: Speech
  transcription: Transcription
}): ThreadSpeech => ({
  speak: (request) => orProblem(speech.synthesize(request)),
  listen: (request) => orProblem(transcription.transcribe(request)),
  inspect: (request) => orProblem(transcription.inspect(request)),
})

const orProblem = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw toAudioProblem(error)
  })

export const isForm = (contentType: string | undefined): boolean => /^multipart\/form-data\b/i.test(contentType ?? '')

/** Reads the fields of a form, each at most once, and its clip. The file name is ignored. */
export async function readForm(
  body: Buffer,
  contentType: string,
): Promise<{ fields: Record<string, string>; audio: Buffer | undefined }> {
  const form = await new Response(body as BodyInit, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => undefined)
  if (!form) throw problem('malformed', 'The form could not be read.')
  const fields: Record<string, string> = {}
  let audio: Buffer | undefined
  for (const [name, value] of form) {
    if ((name === 'audio' ? audio : Object.hasOwn(fields, name) || undefined) !== undefined)
      throw invalid([{ path: `/${name}`, message: 'is given twice' }])
    if (name !== 'audio' && typeof value === 'string') fields[name] = value
    else if (name === 'audio' && value instanceof Blob) audio = Buffer.from(await value.arrayBuffer())
    else throw invalid([{ path: `/${name}`, message: 'send the clip as a file, as "audio"' }])
  }
  return { fields, audio }
}
