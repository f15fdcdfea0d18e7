import { makeLocalSpeech } from '#providers/speech/local'
import { makeAudioProcess } from '#providers/speech/process'
import { normalizedWords, sentences, wordErrors } from '#providers/speech/roundtrip'
import { makeLocalTranscription } from '#providers/transcription/local'
import { describeLate, watchLoop } from './loop-watch.ts'

// `node bench/speech.ts`: measures seconds of audio per second of work in both directions, the effect on the server's
// event loop, and how well each voice is understood. One run on an otherwise idle machine; prints a table. `node
// bench/speech.ts 4` only speaks and transcribes for four minutes and reports the delay of the event loop.

let audio = makeAudioProcess()
const speech = makeLocalSpeech({ audio })
const transcription = makeLocalTranscription({ audio })

const own = (since: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

const measure = async (work: () => Promise<number>) => {
  const loop = watchLoop()
  const start = performance.now()
  const cpu = process.cpuUsage()
  const seconds = await work()
  const took = (performance.now() - start) / 1000
  return { seconds, took, speed: seconds / took, cpu_ms: own(cpu), ...loop.stop() }
}

const show = (what: string, { seconds, took, speed, cpu_ms, p99_ms, worst }: Awaited<ReturnType<typeof measure>>) =>
  console.log(
    `${what.padEnd(34)} ${seconds.toFixed(1).padStart(7)} s of audio in ${took.toFixed(1).padStart(5)} s = ${speed.toFixed(1).padStart(5)} x · event loop p99 ${p99_ms.toFixed(1)} ms, worst ${worst[0] ? describeLate(worst[0]) : 'unknown'}, all its work ${cpu_ms.toFixed(0)} ms`,
  )

const text = sentences.join(' ')

async function talk(minutes: number): Promise<void> {
  const end = performance.now() + minutes * 60_000
  const all = await measure(async () => {
    let spoken_s = 0
    while (performance.now() < end) {
      // A server's first request includes the start of the process, so some requests here do too.
      await audio.close()
      audio = makeAudioProcess()
      const [speech, transcription] = [makeLocalSpeech({ audio }), makeLocalTranscription({ audio })]
      const clip = await speech.synthesize({ text, format: 'wav' })
      const several = Array.from({ length: 3 }, () => [
        speech.synthesize({ text, format: 'mp3' }),
        transcription.transcribe({ bytes: clip.bytes }),
      ])
      for (const { duration_s } of await Promise.all(several.flat())) spoken_s += duration_s
    }
    return spoken_s
  })
  show(`${minutes} minutes of talk`, all)
  for (const late of all.worst) console.log(`  ${describeLate(late)}`)
  await audio.close()
}

const minutes = Number(process.argv[2] ?? 0)
if (minutes > 0) {
  await talk(minutes)
  process.exit()
}

const cold = performance.now()
const hello = await speech.synthesize({ text: 'Hello.', format: 'mp3' })
const firstSpoken = performance.now() - cold
const heard = performance.now()
await transcription.transcribe({ bytes: hello.bytes })
console.log(
  `first word from a cold start: spoken ${firstSpoken.toFixed(0)} ms, heard ${(performance.now() - heard).toFixed(0)} ms more\n`,
)

show('nothing, for comparison', await measure(() => new Promise((resolve) => setTimeout(resolve, 5000, 0))))
const clip = await speech.synthesize({ text, format: 'mp3' })
for (const format of ['mp3', 'wav'] as const)
  show(`text to ${format}`, await measure(async () => (await speech.synthesize({ text, format })).duration_s))
show(
  'audio to text, one recording',
  await measure(async () => (await transcription.transcribe({ bytes: clip.bytes })).duration_s),
)

const large = Buffer.concat(Array.from({ length: 6 }, () => clip.bytes))
show(
  'audio to text, nearly ten minutes',
  await measure(async () => (await transcription.transcribe({ bytes: large })).duration_s),
)
show(
  'four of each at once',
  await measure(async () => {
    const spoken = Array.from({ length: 4 }, async () => (await speech.synthesize({ text, format: 'mp3' })).duration_s)
    const understood = Array.from(
      { length: 4 },
      async () => (await transcription.transcribe({ bytes: clip.bytes })).duration_s,
    )
    return (await Promise.all([...spoken, ...understood])).reduce((sum, each) => sum + each, 0)
  }),
)

console.log('\nword error rate of thirty sentences, spoken and heard')
for (const { id } of speech.voices()) {
  let [errors, words] = [0, 0]
  for (const sentence of sentences) {
    const { bytes } = await speech.synthesize({ text: sentence, voice: id, format: 'mp3' })
    errors += wordErrors(normalizedWords(sentence), normalizedWords((await transcription.transcribe({ bytes })).text))
    words += normalizedWords(sentence).length
  }
  console.log(`${id.padEnd(6)} ${((errors / words) * 100).toFixed(1)} %`)
}
await audio.close()
