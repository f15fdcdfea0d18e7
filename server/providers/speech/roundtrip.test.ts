import { afterAll, expect, test } from 'vitest'
import { makeLocalTranscription } from '#providers/transcription/local'
import { makeLocalSpeech } from './local.ts'
import { makeAudioProcess } from './process.ts'
import { normalizedWords, sentences, wordErrors } from './roundtrip.ts'

const audio = makeAudioProcess({ niceness: 0 })
const speech = makeLocalSpeech({ audio })
const transcription = makeLocalTranscription({ audio })
afterAll(() => audio.close())

test('thirty sentences spoken by the local voice are understood by the local transcription', async () => {
  let errors = 0
  let words = 0
  for (const [i, sentence] of sentences.entries()) {
    const { bytes } = await speech.synthesize({ text: sentence, format: i % 2 ? 'mp3' : 'wav' })
    const { text } = await transcription.transcribe({ bytes })
    const said = normalizedWords(sentence)
    errors += wordErrors(said, normalizedWords(text))
    words += said.length
  }
  const rate = errors / words
  console.log(
    `word error rate of the round trip: ${(rate * 100).toFixed(1)} % of ${words} words, ${sentences.length} sentences`,
  )
  expect(rate).toBeLessThanOrEqual(0.15)
})

test('the word error rate counts wrong words as errors', () => {
  expect(wordErrors(normalizedWords('It takes 25 minutes.'), normalizedWords('it takes twenty-five minutes'))).toBe(0)
  expect(wordErrors(normalizedWords('one two three'), normalizedWords('one three four'))).toBe(2)
})
