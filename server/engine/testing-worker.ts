import { readFileSync } from 'node:fs'
import type { Definition } from '#model/definition'
import type { DatabaseUrls } from '#platform/db/pool'
import { kind, startTestEngine } from './testing.ts'

// A worker in its own process, so that tests can kill and stop it. Its nodes report each effect to a local server.

const { urls, definitions, effects } = JSON.parse(readFileSync(0, 'utf8')) as {
  urls: DatabaseUrls
  definitions: [string, Definition][]
  effects: string
}

const report = async (type: string, key: string): Promise<void> => {
  await fetch(`${effects}/${type}/${encodeURIComponent(key)}`, { method: 'POST' })
}

await startTestEngine(urls, {
  definitions: new Map(definitions),
  nodes: [
    kind('effect', 'idempotent', async (call) => {
      await report('effect', call.effectKey)
      return { output: call.args.value ?? null }
    }),
    kind('once', 'at_most_once', async (call) => {
      await report('once', call.effectKey)
      await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      return { output: null }
    }),
    kind('steps', 'idempotent', async (call) => {
      const reported = async (name: string): Promise<string> => {
        await report('step', `${call.effectKey}:${name}`)
        return name
      }
      for (const name of ['one', 'two']) await call.step(name, () => reported(name))
      await report('hang', call.effectKey)
      if (call.attempt === 1 && process.env.HANG) await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      return { output: 'stepped' }
    }),
  ],
})
process.stdout.write('ready\n')
setInterval(() => {}, 60_000)
