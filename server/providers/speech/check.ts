import { ProviderProblem } from './problem.ts'

export const checkVoice = (voice: string, voices: { id: string }[]) => {
  if (voices.some(({ id }) => id === voice)) return
  const list = voices.map(({ id }) => id).join(', ')
  throw new ProviderProblem('unknown_voice', `No voice "${voice.slice(0, 40)}"; there are ${list}.`)
}

export const checkText = (text: string, limit: number) => {
  if (text.length > limit)
    throw new ProviderProblem('text_too_long', `Speech takes at most ${limit} characters; this has ${text.length}.`)
  if (text.trim() === '') throw new ProviderProblem('text_unspeakable', 'There is no text to say.')
}
