import { invalid, type Problem, problem } from '#platform/errors'
import { ProviderProblem } from '#providers/speech/problem'

// Audio on its way to and from the providers. No audio is stored here.

/** Converts errors of speech and transcription providers to problems of the API. */
export function toAudioProblem(error: unknown): unknown {
  if (!(error instanceof ProviderProblem)) return error
  return refusalOf(error)
}

function refusalOf({ code, message }: ProviderProblem): Problem {
  switch (code) {
    case 'audio_unreadable':
    case 'audio_silent':
    case 'audio_too_long':
      return problem(code, message)
    case 'unsupported_audio':
      return problem('unsupported_media_type', message)
    case 'audio_too_large':
      return problem('too_large', message)
    case 'text_too_long':
    case 'text_unspeakable':
      return invalid([{ path: '/text', message }])
    case 'unknown_voice':
      return invalid([{ path: '/voice', message }])
    case 'provider_busy':
      return problem('overloaded', message, { retryAfterS: 5 })
    case 'provider_unavailable':
      return problem('provider_unavailable', message, { retryAfterS: 5 })
  }
}

/** Returns the clip of a request: a raw audio body, or the part `audio` of a form. */
export async function readAudio(body: Buffer, contentType: string | undefined): Promise<Buffer> {
  if (body.length === 0) throw problem('audio_unreadable', 'Send audio: as the body, or as the part `audio` of a form.')
  if (!/^multipart\/form-data\b/i.test(contentType ?? '')) return body
  const form = await new Response(body as BodyInit, { headers: { 'content-type': contentType! } })
    .formData()
    .catch(() => undefined)
  if (!form) throw problem('malformed', 'The form could not be read.')
  const part = form.get('audio')
  if (!(part instanceof Blob) || part.size === 0)
    throw invalid([{ path: '/audio', message: 'must be a file with audio' }])
  return Buffer.from(await part.arrayBuffer())
}
