import { ProviderProblem } from '#providers/speech/problem'
import type { AudioProcess } from '#providers/speech/process'
import type { AudioFacts, AudioLimits, AudioRequest } from './index.ts'

export const checkSize = (bytes: Uint8Array, limits: AudioLimits) => {
  if (bytes.length > limits.bytes)
    throw new ProviderProblem(
      'audio_too_large',
      `Audio may have ${Math.floor(limits.bytes / 1024 / 1024)} MiB at most.`,
    )
  if (bytes.length === 0) throw new ProviderProblem('audio_unreadable', 'There is no audio in the request.')
}

/** Every provider decodes here first, so that audio with a false type or length never costs a call to a vendor. */
export const inspectWith =
  (audio: AudioProcess, limits: AudioLimits, speech = false) =>
  async ({ bytes, workspaceId, signal }: AudioRequest): Promise<AudioFacts> => {
    checkSize(bytes, limits)
    const asked = { kind: 'inspect', limit_s: limits.duration_s, speech }
    const { head } = await audio.ask(asked, bytes, { workspaceId, signal })
    const { format, contentType, duration_s } = head as AudioFacts
    return { format, contentType, duration_s }
  }
