import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { makeLocalTranscription } from '#providers/transcription/local'
import { makeLocalSpeech } from './local.ts'
import { type AudioProcess, type AudioProcessSettings, makeAudioProcess } from './process.ts'

const opened: AudioProcess[] = []
const open = (settings: AudioProcessSettings = {}) => {
  // At a lower priority the process would hardly get processor time beside other tests.
  const audio = makeAudioProcess({ niceness: 0, ...settings })
  opened.push(audio)
  return { audio, speech: makeLocalSpeech({ audio }), transcription: makeLocalTranscription({ audio }) }
}
afterEach(async () => {
  for (const audio of opened.splice(0)) await audio.close()
})

const story = 'The old house stood at the end of the road. Nobody had lived there for years. '.repeat(5)

const alive = (pid: number) => {
  try {
    process.kill(pid, 0)
    // A zombie process still accepts signals.
    return process.platform !== 'linux' || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Long enough for a busy machine. */
const patiently = { timeout: 60_000 }

const started = async (audio: AudioProcess): Promise<number> =>
  vi.waitFor(() => audio.pid() ?? Promise.reject(new Error('not started')), patiently)

test('the process starts with the first request and ends when it is idle', async () => {
  const { audio, speech } = open({ idleFor: 100 })
  expect(audio.pid()).toBeUndefined()
  await speech.synthesize({ text: 'Hello.', format: 'mp3' })
  const pid = audio.pid() as number
  expect(alive(pid)).toBe(true)
  await vi.waitFor(() => expect(alive(pid)).toBe(false), patiently)
  await speech.synthesize({ text: 'Hello again.', format: 'mp3' })
  expect(audio.pid()).not.toBe(pid)
})

test('a request that a crash interrupts is repeated and answered', async () => {
  const faults: string[] = []
  const { audio, speech } = open({ onFault: (message) => faults.push(message) })
  const spoken = speech.synthesize({ text: story, format: 'mp3' })
  process.kill(await started(audio), 'SIGKILL')
  expect((await spoken).duration_s).toBeGreaterThan(20)
  expect(faults).toEqual(['the audio process ended (SIGKILL) at work'])
})

test('a process that hangs is killed, and its requests continue in the next process', async () => {
  const { audio, speech } = open({ stalledAfter: 5000 })
  const spoken = speech.synthesize({ text: story, format: 'wav' })
  const pid = await started(audio)
  process.kill(pid, 'SIGSTOP')
  expect((await spoken).duration_s).toBeGreaterThan(20)
  expect(alive(pid)).toBe(false)
})

test('a request that kills the process twice is refused, and concurrent requests are answered', async () => {
  const { audio, speech, transcription } = open()
  const deadly = speech.synthesize({ text: story, format: 'mp3' })
  const refused = expect(deadly).rejects.toMatchObject({ code: 'provider_unavailable' })
  const first = await started(audio)
  const innocent = speech.synthesize({ text: 'I only came along.', format: 'wav' })
  process.kill(first, 'SIGKILL')
  const second = await vi.waitFor(() => {
    const pid = audio.pid()
    return pid && pid !== first ? pid : Promise.reject(new Error('not yet'))
  }, patiently)
  process.kill(second, 'SIGKILL')
  await refused
  expect((await transcription.inspect({ bytes: (await innocent).bytes })).format).toBe('wav')
})

test('a full queue refuses a new request at once, and waiting requests are not lost', async () => {
  const { speech } = open({ queueLimit: 2, together: 1 })
  const say = (text: string) => speech.synthesize({ text, format: 'mp3' })
  const accepted = [say(story), say('Second.'), say('Third.')]
  await expect(say('Fourth.')).rejects.toMatchObject({ code: 'provider_busy' })
  expect((await Promise.all(accepted)).every(({ bytes }) => bytes.length > 0)).toBe(true)
})

test('many requests of one workspace leave a place in the process and in the queue to others', async () => {
  const { speech } = open({ queueLimit: 2, together: 2 })
  const order: string[] = []
  const say = (workspaceId: string, text: string) =>
    speech.synthesize({ text, format: 'mp3', workspaceId }).then(() => order.push(workspaceId))
  const accepted = [say('many', story), say('many', story)]
  const refused = expect(say('many', 'Third.')).rejects.toMatchObject({ code: 'provider_busy' })
  accepted.push(say('other', 'Short.'))
  await refused
  await Promise.all(accepted)
  expect(order).toEqual(['other', 'many', 'many'])
})

test('a short request does not wait for the end of a long request', async () => {
  const { speech } = open()
  const order: string[] = []
  const long = speech.synthesize({ text: story, format: 'mp3' }).then(() => order.push('long'))
  const short = speech.synthesize({ text: 'Short.', format: 'mp3' }).then(() => order.push('short'))
  await Promise.all([long, short])
  expect(order).toEqual(['short', 'long'])
})

test('an aborted request frees its place', async () => {
  const { speech } = open({ together: 1, queueLimit: 1 })
  const gone = new AbortController()
  const abandoned = speech.synthesize({ text: story, format: 'mp3', signal: gone.signal })
  const rejected = expect(abandoned).rejects.toThrow('gone')
  const next = speech.synthesize({ text: 'Next.', format: 'mp3' })
  gone.abort(new Error('gone'))
  await rejected
  expect((await next).bytes.length).toBeGreaterThan(0)
})

test('closing refuses requests in progress and leaves no process behind', async () => {
  const { audio, speech } = open()
  const refused = expect(speech.synthesize({ text: story, format: 'mp3' })).rejects.toMatchObject({
    code: 'provider_unavailable',
  })
  const pid = await started(audio)
  await audio.close()
  await refused
  expect(alive(pid)).toBe(false)
  await expect(speech.synthesize({ text: 'Hello.', format: 'mp3' })).rejects.toMatchObject({
    code: 'provider_unavailable',
  })
})

test.runIf(process.platform === 'linux')('the process does not receive the environment of the server', async () => {
  const { audio, speech } = open()
  await speech.synthesize({ text: 'Hello.', format: 'mp3' })
  expect(readFileSync(`/proc/${audio.pid()}/environ`, 'utf8')).not.toContain('PATH=')
})

test.runIf(process.platform === 'linux')('every thread of the process has the lower priority', async () => {
  const { audio, speech } = open({ niceness: 7 })
  await speech.synthesize({ text: 'Hello.', format: 'mp3' })
  const threads = `/proc/${audio.pid()}/task`
  const niceness = readdirSync(threads).map((thread) => {
    const [, after = ''] = readFileSync(`${threads}/${thread}/stat`, 'utf8').split(') ')
    return Number(after.split(' ')[16])
  })
  expect(niceness.length).toBeGreaterThan(4)
  expect(new Set(niceness)).toEqual(new Set([7]))
})

test('a server that is killed leaves no process behind', async () => {
  const module = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const script = `
    const { makeAudioProcess } = await import(${JSON.stringify(module('./process.ts'))})
    const { makeLocalSpeech } = await import(${JSON.stringify(module('./local.ts'))})
    const audio = makeAudioProcess()
    await makeLocalSpeech({ audio }).synthesize({ text: 'Hello.', format: 'wav' })
    console.log(audio.pid())
    setInterval(() => {}, 1000)`
  const server = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(server.stdout, 'data')
  const pid = Number(String(line))
  expect(alive(pid)).toBe(true)
  server.kill('SIGKILL')
  await vi.waitFor(() => expect(alive(pid)).toBe(false), patiently)
})

test('an idle process does not keep a finished server alive', async () => {
  const module = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const script = `
    const { makeAudioProcess } = await import(${JSON.stringify(module('./process.ts'))})
    const { makeLocalSpeech } = await import(${JSON.stringify(module('./local.ts'))})
    await makeLocalSpeech({ audio: makeAudioProcess() }).synthesize({ text: 'Hello.', format: 'wav' })`
  const server = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  const [code] = await once(server, 'exit')
  expect(code).toBe(0)
})
