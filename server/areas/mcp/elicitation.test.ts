import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Json } from '#model/definition'
import { useSharedService } from '#test/harness/service'
import { until } from '#test/harness/until'
import { makeWorld, type TestPerson, type World } from '#test/harness/world'
import { formOf } from './elicitation.ts'

// Questions of a workflow that runs as a tool, asked through the protocol's official client.

const service = useSharedService()
let world: World
beforeAll(async () => {
  world = await makeWorld(service())
})

type Asked = { message: string; requestedSchema: unknown }

/** Connects a client whose person gives these answers, in this order. */
async function connect(person: TestPerson, answers: ElicitResult[]) {
  const asked: Asked[] = []
  const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    const { message, requestedSchema } = params as unknown as Asked
    asked.push({ message, requestedSchema })
    return answers.shift() ?? { action: 'cancel' }
  })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', service().base), {
    requestInit: { headers: { authorization: `Bearer ${person.key}` } },
  })
  await client.connect(transport as never)
  return { client, asked }
}

async function makeTool(name: string, nodes: object[]): Promise<string> {
  const last = nodes.at(-1) as { id: string }
  const definition = {
    nodes,
    edges: nodes.slice(1).map((node, index) => ({
      from: { node: (nodes[index] as { id: string }).id },
      to: (node as { id: string }).id,
    })),
    output: { $ref: `nodes.${last.id}.output` },
  }
  const made = await world.owner.call('POST', '/api/workflows', {
    body: { name, definition, settings: { mcp_tool: true } },
  })
  expect(made.status, made.text).toBe(201)
  return `${name.toLowerCase().replaceAll(' ', '_')}_${made.body.workflow_id.slice(-6)}`
}
const question = (id: string, text: string, more: object) => ({
  id,
  type: 'clarification',
  args: { question: text, ...more },
})

describe('a client that can ask its person', () => {
  test('asks the questions of the execution, which continues with the answers', async () => {
    const size = { type: 'object', properties: { size: { type: 'integer', minimum: 1 } }, required: ['size'] }
    const name = await makeTool('Order', [
      question('colour', 'Which colour?', { schema: { type: 'string', enum: ['red', 'blue'], 'x-own': 1 } }),
      question('how', 'Which size?', { schema: size }),
      {
        id: 'both',
        type: 'set',
        args: { values: { colour: { $ref: 'nodes.colour.output' }, size: { $ref: 'nodes.how.output.size' } } },
      },
    ])
    const { client, asked } = await connect(world.owner, [
      { action: 'accept', content: { answer: 'blue' } },
      // The service checks what the client did not check.
      { action: 'accept', content: { size: 0 } },
      { action: 'accept', content: { size: 42 } },
    ])
    const progress: number[] = []
    const result = await client.callTool({ name, arguments: {} }, undefined, {
      onprogress: (step) => progress.push(step.progress),
    })
    expect(result.structuredContent).toEqual({ colour: 'blue', size: 42 })
    expect(asked).toEqual([
      {
        message: 'Which colour?',
        requestedSchema: {
          type: 'object',
          properties: { answer: { type: 'string', enum: ['red', 'blue'] } },
          required: ['answer'],
        },
      },
      { message: 'Which size?', requestedSchema: size },
      { message: 'Which size?', requestedSchema: size },
    ])
    expect(progress.at(-1)).toBe(3)
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    await client.close()
  })

  test('leaves a declined question, and a question for another person, open for others', async () => {
    const declined = await makeTool('Declined', [question('q', 'Which one?', { schema: { type: 'string' } })])
    const others = await makeTool('For others', [
      question('q', 'What do you think?', { who: [{ kind: 'user', id: world.member.id }] }),
    ])
    const { client, asked } = await connect(world.owner, [{ action: 'decline' }])
    const waits = { structuredContent: { status: 'waiting' } }
    const result = await client.callTool({ name: declined, arguments: {} })
    expect(result).toMatchObject(waits)
    expect(asked).toHaveLength(1)
    const { execution_id } = result.structuredContent as { execution_id: string }
    const answered = await world.owner.call('POST', `/api/workflows/executions/${execution_id}/respond`, {
      body: { response: 'that one' },
    })
    expect(answered.status, answered.text).toBe(202)
    expect(await client.callTool({ name: others, arguments: {} })).toMatchObject(waits)
    expect(asked).toHaveLength(1)
    await client.close()
  })

  test('is not asked for approvals, and other people cannot answer for the caller', async () => {
    const gate = { approvers: [{ kind: 'role', id: 'owner' }], allow_self: true }
    const approval = await makeTool('Gate', [
      { id: 'gate', type: 'approval', args: { title: 'May it?', policy: gate } },
    ])
    const { client, asked } = await connect(world.owner, [])
    expect(await client.callTool({ name: approval, arguments: {} })).toMatchObject({
      structuredContent: { status: 'waiting' },
    })
    expect(asked).toEqual([])
    const name = await makeTool('Asks', [question('q', 'Which one?', { schema: { type: 'string' } })])
    const result = await client.callTool({ name, arguments: {} })
    const { execution_id } = result.structuredContent as { execution_id: string }
    const read = async () => (await world.owner.call('GET', `/api/workflows/executions/${execution_id}`)).body
    const [waiting] = (await read()).waiting_for
    const say = (person: TestPerson, id: string) =>
      person.call('POST', '/mcp', {
        body: { jsonrpc: '2.0', id, result: { action: 'accept', content: { answer: 'mine' } } },
      })
    const id = `${execution_id} ${waiting.clarification_id} 0`
    for (const odd of ['1', 'exe_ clr_', `${execution_id} clr_01kf3v6h2he3wtpk1fw5c0wz9d 0`])
      expect((await say(world.owner, odd)).status).toBe(202)
    expect((await say(world.member, id)).status).toBe(202)
    expect((await read()).status).toBe('waiting')
    expect((await say(world.owner, id)).status).toBe(202)
    await until(async () => (await read()).status === 'succeeded', 'the run to end')
    expect((await read()).results).toBe('mine')
    await client.close()
  })
})

test.each<[string, Json, unknown]>([
  ['any value', true, { answer: { type: 'string' } }],
  ['a number', { type: 'number', minimum: 1, multipleOf: 2 }, { answer: { type: 'number', minimum: 1 } }],
  ['an object', { type: 'object', properties: { a: { type: 'boolean' } } }, { a: { type: 'boolean' } }],
  ['a format that clients do not know', { type: 'string', format: 'uuid' }, { answer: { type: 'string' } }],
  ['a list', { type: 'array', items: {} }, undefined],
  ['a nested object', { type: 'object', properties: { a: { type: 'object' } } }, undefined],
  ['an object without fields', { type: 'object' }, undefined],
  ['a choice of numbers', { enum: [1, 2] }, undefined],
  ['several types', { type: ['string', 'null'] }, undefined],
])('the form for %s', (_what, schema, properties) => {
  expect(formOf(schema)?.properties).toEqual(properties)
})
