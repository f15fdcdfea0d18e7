import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { json } from '#test/fakes/llm/answers'
import { FAKE_KEY, type FakeLlm, startFakeLlm } from '#test/fakes/llm/server'
import { type Service, startService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type World } from '#test/harness/world'

// Runs the examples of the documents as they are printed.

let local: Server
let fake: FakeLlm
let service: Service
let world: World

beforeAll(async () => {
  local = createServer((_request, response) => response.writeHead(500).end('broken'))
  await new Promise<void>((resolve) => local.listen(0, '127.0.0.1', resolve))
  const { port } = local.address() as AddressInfo
  fake = await startFakeLlm()
  fake.otherwise(json({ decision: 'approve', rationale: 'Under the limit', confidence: 0.8, evidence: [] }))
  service = await startService({
    env: {
      HEDDLE_ALLOW_TARGETS: `127.0.0.1:${port}`,
      LLM_PROVIDER: 'openai-compatible',
      LLM_MODEL: 'fake-model',
      LLM_API_KEY: FAKE_KEY,
      LLM_BASE_URL: fake.baseUrl,
    },
  })
  world = await makeWorld(service)
})
afterAll(async () => {
  await service.stop()
  await fake.close()
  local.close()
})

type Block = { kind: string; text: string }

async function blocksOf(document: string): Promise<Block[]> {
  const text = await readFile(join(import.meta.dirname, '..', 'docs', document), 'utf8')
  return [...text.matchAll(/^```json (\w+)\n([\s\S]*?)^```/gm)].map(([, kind, body]) => ({ kind: kind!, text: body! }))
}

async function start(definition: unknown, input: unknown): Promise<string> {
  const made = await world.owner.call('POST', '/api/workflows', { body: { name: 'Example', definition } })
  expect(made.status, made.text).toBe(201)
  const started = await world.owner.call('POST', `/api/workflows/${made.body.workflow_id}/run`, { body: { input } })
  expect(started.status, started.text).toBe(202)
  return started.body.execution_id
}

const whenEnded = (execution: string) =>
  until(async () => {
    const { body } = await world.owner.call('GET', `/api/workflows/executions/${execution}`)
    return ['succeeded', 'failed'].includes(body.status) ? body : undefined
  }, 'the end')

type Gate = { request_id: string; status: string; payload_sha256: string; votes: { voter: { kind: string } }[] }

const gateOf = async (execution: string): Promise<Gate | undefined> =>
  (await world.owner.call('GET', `/api/workflows/executions/${execution}/approvals`)).body.items[0]

/** Votes as the example says; `agent` waits for the vote of the agent. */
async function vote(execution: string, votes: string[]): Promise<void> {
  const gate = await until(() => gateOf(execution), 'the gate')
  for (const [n, word] of votes.entries()) {
    if (word === 'agent') {
      await until(
        async () => (await gateOf(execution))?.votes.some(({ voter }) => voter.kind === 'agent'),
        'the vote of the agent',
      )
      continue
    }
    const voter = word.endsWith('as-viewer') || n === 1 ? world.viewer : world.member
    const cast = await voter.call('POST', `/api/approvals/${gate.request_id}/votes`, {
      body: { decision: word.split('-')[0], payload_sha256: gate.payload_sha256 },
    })
    expect(cast.status, cast.text).toBe(201)
  }
}

describe('docs/workflows.md', () => {
  test('has examples that do what the text says', async () => {
    const blocks = (await blocksOf('workflows.md')).filter(({ kind }) => kind !== 'definition')
    const { port } = local.address() as AddressInfo
    let examples = 0
    for (const [at, block] of blocks.entries()) {
      if (block.kind !== 'workflow') continue
      const [input, results] = [blocks[at + 1]!, blocks[at + 2]!]
      expect([input.kind, results.kind]).toEqual(['input', 'results'])
      const execution = await start(
        JSON.parse(block.text),
        JSON.parse(input.text.replace('$LOCAL_SERVER', `http://127.0.0.1:${port}`)),
      )
      expect(await whenEnded(execution)).toMatchObject({ status: 'succeeded', results: JSON.parse(results.text) })
      examples += 1
    }
    expect(examples).toBe(9)
  })
})

describe('docs/approvals.md', () => {
  test('has a question, a gate and policies that do what the text says', async () => {
    const blocks = await blocksOf('approvals.md')
    const gated = (policy: unknown) => ({
      nodes: [{ id: 'gate', type: 'approval', args: { title: 'Example', payload: {}, policy } }],
      edges: [],
      output: null,
    })
    let examples = 0
    for (const [at, { kind, text }] of blocks.entries()) {
      const next = blocks[at + 1]
      if (kind === 'workflow') {
        const execution = await start(JSON.parse(text), {})
        if (next!.kind === 'respond') {
          await until(
            async () =>
              (
                await world.owner.call('POST', `/api/workflows/executions/${execution}/respond`, {
                  body: JSON.parse(next!.text),
                })
              ).status === 202,
            'the question',
          )
        } else await vote(execution, JSON.parse(next!.text))
        expect((await whenEnded(execution)).results).toEqual(JSON.parse(blocks[at + 2]!.text))
        examples += 1
      }
      if (kind === 'policy') {
        const execution = await start(gated(JSON.parse(text)), {})
        await vote(execution, JSON.parse(next!.text))
        const outcome = JSON.parse(blocks[at + 2]!.text)
        if (outcome !== 'open') await whenEnded(execution)
        expect((await gateOf(execution))?.status, text).toBe(outcome)
        examples += 1
      }
    }
    expect(examples).toBe(10)
  })
})
