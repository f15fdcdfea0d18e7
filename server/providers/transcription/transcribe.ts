import { Buffer } from 'node:buffer'
import type { Frame } from '#providers/speech/frames'
import { ProviderProblem } from '#providers/speech/problem'
import { decodeAudio, refuseSilence } from './audio/decode.ts'
import { type Listener, loadMoonshine } from './moonshine.ts'
import { cutWindows } from './windows.ts'

let loading: Promise<Listener> | undefined

/** The audio process's half of local transcription. */
export const transcribe = async (
  head: Record<string, unknown>,
  body: Buffer,
  pause: () => Promise<void>,
): Promise<Frame> => {
  const { samples, duration_s } = await decodeAudio(body, Number(head.limit_s), pause)
  refuseSilence(samples)
  loading ??= loadMoonshine().catch((cause) => {
    loading = undefined
    throw cause
  })
  const listen = await loading
  const texts: string[] = []
  for (const window of cutWindows(samples)) {
    texts.push(await listen(window))
    await pause()
  }
  const text = texts.filter(Boolean).join(' ')
  if (!/[\p{L}\p{N}]/u.test(text)) throw new ProviderProblem('audio_silent', 'Nobody speaks in this audio.')
  return { head: { text, language: 'en', duration_s }, body: Buffer.alloc(0) }
}
