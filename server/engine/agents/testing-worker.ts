import { readFileSync } from 'node:fs'
import type { Definition } from '#model/definition'
import type { DatabaseUrls } from '#platform/db/pool'
import { makeOutgoing } from '#platform/outgoing/outgoing'
import { makeSdkModel } from '#providers/llm/sdk'
import { makeAgentRun } from '../nodes/agent-run.ts'
import { kind, startTestEngine } from '../testing.ts'

// A worker with an agent, in its own process so that a test can kill it. Its tools report each effect to a local
// server.

const { urls, definitions, effects, llm } = JSON.parse(readFileSync(0, 'utf8')) as {
  urls: DatabaseUrls
  definitions: [string, Definition][]
  effects: string
  llm: { baseUrl: string; apiKey: string }
}

const tool = (type: string, effect: 'idempotent' | 'at_most_once') =>
  kind(type, effect, async (call) => {
    await fetch(`${effects}/${type}/${encodeURIComponent(call.effectKey)}`, { method: 'POST' })
    return { output: `${type} done` }
  })
const tools = [tool('look', 'idempotent'), tool('pay', 'at_most_once')]

await startTestEngine(urls, {
  definitions: new Map(definitions),
  nodes: [
    ...tools,
    makeAgentRun({
      llm: makeSdkModel({ provider: 'openai-compatible', model: 'fake-model', ...llm }),
      outgoing: makeOutgoing({ allowTargets: [] }),
      kindOf: (type) => tools.find(({ descriptor }) => descriptor.type === type),
    }),
  ],
})
process.stdout.write('ready\n')
setInterval(() => {}, 60_000)
